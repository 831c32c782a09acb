//! What a packager needs: completions for shells, manual pages.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Args;
use crate::failure::Failure;
use crate::output::Output;

/// Prints the completions for `shell`.
pub(crate) fn completions(shell: Shell) -> Result<(), Failure> {
    let mut command = Args::command();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "ag-ui-proto", &mut script);
    print(&script)
}

/// Prints the manual page of the program, or of one of its commands.
pub(crate) fn man(command: Option<&str>) -> Result<(), Failure> {
    let mut program = Args::command();
    program.build();
    let page = match command {
        None => program,
        Some(name) => program
            .find_subcommand(name)
            .cloned()
            .ok_or_else(|| Failure::Trouble(format!("there is no command {name:?}")))?,
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page)
        .render(&mut text)
        .map_err(|error| Failure::Trouble(format!("the manual page cannot be made: {error}")))?;
    print(&text)
}

fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut output = Output::stdout();
    output.write(bytes)?;
    output.flush()
}
