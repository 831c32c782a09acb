//! An agent and its client over TCP, without HTTP: the text is printed as it arrives.
//!
//! `cargo run --features conversation --example tcp`, or in two terminals with
//! `-- agent 127.0.0.1:7000` and `-- client 127.0.0.1:7000`.
//!
//! | promise | how it is kept |
//! |---|---|
//! | order | TCP's; a connection carries one run |
//! | the input comes before events | it is the first frame, as JSON; the agent sends nothing before |
//! | an end is told from a cut | a `RUN_FINISHED` or `RUN_ERROR` ends the run; a connection that is closed or reset before, in a frame or between two, or that is silent for too long, truncates it |
//! | errors | a refused input is answered with a `RUN_ERROR` alone, a failing agent ends with one; bytes that are no event end the run as rejected, with the number of the frame |
//!
//! Nothing here is encrypted, nor is anybody asked who they are: that is for TLS around the socket.

use std::convert::Infallible;

use ag_ui_proto::Event;
use ag_ui_proto::codec::WriteError;
use ag_ui_proto::model::RunAgentInput;
use tokio::net::{TcpListener, TcpStream};

#[path = "common/accept.rs"]
mod accept;
#[path = "common/byte_stream.rs"]
mod byte_stream;
pub(crate) mod common;
#[path = "common/linger.rs"]
mod linger;
#[path = "common/role.rs"]
mod role;

use accept::pause;
use common::{Agent, Bounds, End, Fault, demo};
use linger::linger;
use role::Role;

/// Serves each client that comes, a run each.
pub(crate) async fn serve(listener: TcpListener, agent: impl Agent, bounds: Bounds) -> Infallible {
    loop {
        let (socket, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                pause(&error).await;
                continue;
            }
        };
        let agent = agent.clone();
        tokio::spawn(async move {
            if let Err(error) = serve_one(socket, agent, bounds).await {
                eprintln!("{peer}: {error}");
            }
        });
    }
}

async fn serve_one(socket: TcpStream, agent: impl Agent, bounds: Bounds) -> Result<(), WriteError> {
    // Small events must not wait for one another.
    socket.set_nodelay(true)?;
    let (read, write) = socket.into_split();
    linger(byte_stream::serve(read, write, agent, bounds).await?).await;
    Ok(())
}

/// Asks the agent at `address`.
pub(crate) async fn call(
    address: &str,
    input: &RunAgentInput,
    bounds: Bounds,
    seen: impl FnMut(&Event),
) -> Result<End, Fault> {
    let (read, write) = TcpStream::connect(address).await?.into_split();
    byte_stream::call(read, write, input, bounds, seen).await
}

async fn run() -> Result<Option<End>, Fault> {
    let bounds = Bounds::default();
    match Role::of_arguments()? {
        Role::Agent(address) => {
            match serve(TcpListener::bind(address).await?, demo::hello, bounds).await {}
        }
        Role::Client(address) => {
            Ok(Some(call(&address, &demo::question(), bounds, demo::show).await?))
        }
        Role::Both => {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let address = listener.local_addr()?.to_string();
            tokio::spawn(serve(listener, demo::hello, bounds));
            Ok(Some(call(&address, &demo::question(), bounds, demo::show).await?))
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::process::ExitCode {
    demo::exit(run().await)
}
