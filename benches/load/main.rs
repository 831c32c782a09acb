//! Many runs at a time through `ag-ui-proto serve`, over loopback: nothing lost, reordered or
//! duplicated, bounded memory, and slow readers that harm nobody.
//!
//! ```sh
//! cargo bench --features cli-http --bench load -- --runs 2000 --seconds 30
//! cargo bench --features cli-http --bench load -- --runs 500 --slow 50 --text 2000
//! ```
//!
//! | option | default | |
//! |---|---|---|
//! | `--runs N` | 200 | runs that read as fast as they can |
//! | `--slow N` | 0 | runs beside them, half of which read nothing and half a byte a second |
//! | `--seconds N` | 10 | how long a run goes on |
//! | `--rate N` | 50 | events a second of each run |
//! | `--text N` | 16 | bytes of a delta |
//! | `--form F` | `protobuf` | or `sse` |
//! | `--coding C` | none | `gzip`, `br` or `zstd` |
//! | `--json` | | a line for machines |
//!
//! Server and client share the machine. Each event is compared with the one that was to come, so that
//! its number, its text and its place are checked. What is asserted is that, and memory; times are
//! told and not asserted. Delays are counted from the moment at which the request was sent, so that
//! they hold the time that it took to connect and to be answered.
//!
//! Slow readers announce small segments and a small window, as links do that are slow: over loopback
//! the kernel would otherwise hold megabytes for each. They read all in the end, and all is checked.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a bench that cannot do its work stops"
)]

#[cfg(target_os = "linux")]
mod args;
#[cfg(target_os = "linux")]
mod chunks;
#[cfg(target_os = "linux")]
mod proc;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod server;
#[cfg(target_os = "linux")]
mod session;

#[cfg(target_os = "linux")]
fn main() {
    let args = args::Args::of_process();
    args.refuse_too_many();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let report = runtime.block_on(load(&args));
    if args.json {
        println!("{}", report.json());
    } else {
        println!("{}", report.text());
    }
    report.check();
}

/// What the machine says of its processes is read from `/proc`.
#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("this bench needs Linux");
}

#[cfg(target_os = "linux")]
async fn load(args: &args::Args) -> report::Report {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::sync::watch;
    use tokio::time::{Instant, sleep, timeout};

    let session = Arc::new(session::Session::new(args));
    let server = server::Server::start(&session);
    let idle = proc::resident(server.id());
    let began = Instant::now();

    // Readers begin one after the other, within a second, so that their events do not come at once.
    let (release, released) = watch::channel(false);
    let gap = Duration::from_secs(1) / u32::try_from(args.runs + args.slow).unwrap();
    let (mut fast, mut slow) = (Vec::new(), Vec::new());
    for number in 0..args.slow {
        let one_byte = (number % 2 == 1).then_some(Duration::from_secs(1));
        let reader = run::Slow { released: released.clone(), one_byte };
        let run = run::read(server.address, Arc::clone(&session), Some(reader));
        slow.push(tokio::spawn(run));
        sleep(gap).await;
    }
    for _ in 0..args.runs {
        fast.push(tokio::spawn(run::read(server.address, Arc::clone(&session), None)));
        sleep(gap).await;
    }

    let (server_before, client_before) =
        (proc::processor_time(server.id()), proc::processor_time(std::process::id()));
    let watched = Instant::now();

    // Not a measurement: what hangs must end.
    let patience = session.len() * 4 + Duration::from_secs(60);
    let mut delays = Vec::new();
    let mut faults = Vec::new();
    for run in fast {
        match timeout(patience, run).await.expect("a run hangs").expect("no panic") {
            Ok(run) => delays.push(run.delays),
            Err(fault) => faults.push(fault),
        }
    }
    let seconds = watched.elapsed().as_secs_f64();
    let cores = [(server.id(), server_before), (std::process::id(), client_before)]
        .map(|(id, before)| (proc::processor_time(id) - before) / seconds);

    let peak = proc::peak_resident(server.id());
    let blocked = proc::resident(server.id());
    let held = proc::held_by_sockets(server.address.port());
    release.send(true).expect("slow readers that wait");
    let mut slow_runs = 0;
    for run in slow {
        match timeout(patience, run).await.expect("a slow run hangs").expect("no panic") {
            Ok(_) => slow_runs += 1,
            Err(fault) => faults.push(format!("slow: {fault}")),
        }
    }
    report::Report {
        args: *args,
        events: session.events.len(),
        body_len: session.body_len,
        took: began.elapsed().as_secs_f64(),
        delays,
        slow_runs,
        faults,
        idle,
        peak,
        blocked,
        held,
        cores,
    }
}
