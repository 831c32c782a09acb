//! The command line of the programs whose agent has an address.

use super::common::Fault;

/// What a program is started as: without arguments, both sides in one.
pub(crate) enum Role {
    Both,
    /// `agent ADDRESS`
    Agent(String),
    /// `client ADDRESS`
    Client(String),
}

impl Role {
    pub(crate) fn of_arguments() -> Result<Self, Fault> {
        let args: Vec<_> = std::env::args().skip(1).collect();
        match &args[..] {
            [] => Ok(Self::Both),
            [role, address] if role == "agent" => Ok(Self::Agent(address.clone())),
            [role, address] if role == "client" => Ok(Self::Client(address.clone())),
            _ => Err("usage: [agent ADDRESS | client ADDRESS]".into()),
        }
    }
}
