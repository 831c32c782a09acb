//! The HTTP side of whoever calls an agent: an input out, a stream of events in, whichever binding
//! the agent speaks.
//!
//! | what comes of a call | where it is told |
//! |---|---|
//! | the input is malformed, and was not sent | [`ClientError::Input`] |
//! | no connection, or no answer in time | [`ClientError::Http`], [`ClientError::Timeout`] |
//! | an error status: the run was refused | [`ClientError::Status`] |
//! | an answer that is no stream of events, whatever its status | [`ClientError::ContentType`] |
//! | a `RUN_FINISHED` | [`RunEnd::Finished`] |
//! | a `RUN_ERROR` | [`RunEnd::Failed`] |
//! | bytes that are no events | [`RunEnd::Rejected`] |
//! | an end before either, wherever: a cut, a pause over the limit | [`RunEnd::Truncated`] |
//!
//! A status of 200 says nothing of a run, nor does the end of its body; see [`Run::end`].
//!
//! Rule: specification 1.1, basic/transports.

mod builder;
mod connect;
mod end;
mod error;
mod redirects;
mod run;

pub use self::builder::ClientBuilder;
pub use self::connect::Client;
pub use self::end::{RunEnd, Truncation};
pub use self::error::{Answer, ClientError};
pub use self::run::Run;
