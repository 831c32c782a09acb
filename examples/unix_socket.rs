//! An agent and its client over a Unix socket: the text is printed as it arrives.
//!
//! `cargo run --features conversation --example unix_socket`, or in two terminals with
//! `-- agent /tmp/agent.sock` and `-- client /tmp/agent.sock`.
//!
//! | promise | how it is kept |
//! |---|---|
//! | order | the socket's; a connection carries one run |
//! | the input comes before events | it is the first frame, as JSON; the agent sends nothing before |
//! | an end is told from a cut | a `RUN_FINISHED` or `RUN_ERROR` ends the run; a connection that ends before, in a frame or between two, or that is silent for too long, truncates it |
//! | errors | a refused input is answered with a `RUN_ERROR` alone, a failing agent ends with one; bytes that are no event end the run as rejected, with the number of the frame |
//!
//! Who may connect is said by the permissions of the directory that the socket is in.

#[cfg(unix)]
#[path = "common/accept.rs"]
mod accept;
#[cfg(unix)]
#[path = "common/byte_stream.rs"]
mod byte_stream;
#[cfg(unix)]
pub(crate) mod common;
#[cfg(unix)]
#[path = "common/linger.rs"]
mod linger;
#[cfg(unix)]
#[path = "common/role.rs"]
mod role;

#[cfg(unix)]
pub(crate) mod socket {
    use std::convert::Infallible;
    use std::io;
    use std::os::unix::fs::FileTypeExt as _;
    use std::path::Path;
    use std::process::ExitCode;

    use ag_ui_proto::Event;
    use ag_ui_proto::codec::WriteError;
    use ag_ui_proto::model::RunAgentInput;
    use tokio::net::{UnixListener, UnixStream};

    use super::accept::pause;
    use super::byte_stream;
    use super::common::{Agent, Bounds, End, Fault, demo};
    use super::linger::linger;
    use super::role::Role;

    /// Listens at `path`. The socket of an agent that is gone is replaced; nothing else is.
    pub(crate) async fn bind(path: &Path) -> io::Result<UnixListener> {
        // A file that is no socket refuses connections, too.
        let is_socket = path.symlink_metadata().is_ok_and(|file| file.file_type().is_socket());
        if is_socket
            && let Err(error) = UnixStream::connect(path).await
            && error.kind() == io::ErrorKind::ConnectionRefused
        {
            std::fs::remove_file(path)?;
        }
        UnixListener::bind(path)
    }

    /// Serves each client that comes, a run each.
    pub(crate) async fn serve(
        listener: UnixListener,
        agent: impl Agent,
        bounds: Bounds,
    ) -> Infallible {
        loop {
            let (socket, _) = match listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    pause(&error).await;
                    continue;
                }
            };
            let agent = agent.clone();
            tokio::spawn(async move {
                if let Err(error) = serve_one(socket, agent, bounds).await {
                    eprintln!("a client: {error}");
                }
            });
        }
    }

    async fn serve_one(
        socket: UnixStream,
        agent: impl Agent,
        bounds: Bounds,
    ) -> Result<(), WriteError> {
        let (read, write) = socket.into_split();
        linger(byte_stream::serve(read, write, agent, bounds).await?).await;
        Ok(())
    }

    /// Asks the agent that listens at `path`.
    pub(crate) async fn call(
        path: &Path,
        input: &RunAgentInput,
        bounds: Bounds,
        seen: impl FnMut(&Event),
    ) -> Result<End, Fault> {
        let (read, write) = UnixStream::connect(path).await?.into_split();
        byte_stream::call(read, write, input, bounds, seen).await
    }

    async fn run() -> Result<Option<End>, Fault> {
        let bounds = Bounds::default();
        match Role::of_arguments()? {
            Role::Agent(path) => {
                match serve(bind(path.as_ref()).await?, demo::hello, bounds).await {}
            }
            Role::Client(path) => {
                Ok(Some(call(path.as_ref(), &demo::question(), bounds, demo::show).await?))
            }
            Role::Both => {
                let name = format!("ag-ui-{}.sock", std::process::id());
                let path = std::env::temp_dir().join(name);
                tokio::spawn(serve(bind(&path).await?, demo::hello, bounds));
                let end = call(&path, &demo::question(), bounds, demo::show).await;
                std::fs::remove_file(&path)?;
                end.map(Some)
            }
        }
    }

    #[tokio::main(flavor = "current_thread")]
    pub(super) async fn main() -> ExitCode {
        demo::exit(run().await)
    }
}

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    socket::main()
}

#[cfg(not(unix))]
fn main() {
    eprintln!("there are no Unix sockets here");
}
