//! How agents are called: limits, and what is asked for.

use std::time::Duration;

use http::HeaderMap;

use super::connect::Client;
use super::error::ClientError;
use super::redirects::redirects;
use crate::codec::Options;
use crate::model::UnknownNames;
use crate::sse::Reading;
#[cfg(feature = "compression")]
use crate::stream::InflateLimits;

/// How agents are called. The default:
///
/// | limit | default | bounds |
/// |---|---|---|
/// | `connect_timeout` | 10 s | the time to a connection |
/// | `response_timeout` | 60 s | the time from the call to the headers of the answer, all told |
/// | `idle_timeout` | 5 min | the time without a byte of the body |
/// | `options` | as [`Options`] | an event |
///
/// The headers of an answer are bounded by the HTTP library: 100 of them, in about 400 KiB. A run
/// may be as long as it likes.
///
/// Agents are reached through the proxies that the variables `http_proxy`, `https_proxy` and
/// `all_proxy` name, in capitals too, but for what `no_proxy` lists. Nothing else is an exception, not
/// even a loopback address: see [`ClientBuilder::build_with`] for a client without proxies.
#[derive(Clone, Debug)]
pub struct ClientBuilder {
    connect_timeout: Duration,
    config: Config,
}

#[derive(Clone, Debug)]
pub(super) struct Config {
    pub(super) response_timeout: Duration,
    pub(super) idle_timeout: Duration,
    pub(super) options: Options,
    pub(super) reading: Reading,
    pub(super) names: UnknownNames,
    pub(super) headers: HeaderMap,
    pub(super) sse_only: bool,
    #[cfg(feature = "compression")]
    pub(super) inflate: Option<InflateLimits>,
}

impl Default for ClientBuilder {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        let config = Config {
            response_timeout: seconds(60),
            idle_timeout: seconds(300),
            options: Options::default(),
            reading: Reading::default(),
            names: UnknownNames::default(),
            headers: HeaderMap::new(),
            sse_only: false,
            #[cfg(feature = "compression")]
            inflate: None,
        };
        Self { connect_timeout: seconds(10), config }
    }
}

impl ClientBuilder {
    /// The default.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how long a connection may take.
    #[must_use]
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = limit;
        self
    }

    /// Sets how long the headers of an answer may take, from the call on.
    #[must_use]
    pub fn response_timeout(mut self, limit: Duration) -> Self {
        self.config.response_timeout = limit;
        self
    }

    /// Sets how long the body may pause. A comment that a text binding keeps itself alive with ends
    /// a pause; the binary binding has nothing like it.
    #[must_use]
    pub fn idle_timeout(mut self, limit: Duration) -> Self {
        self.config.idle_timeout = limit;
        self
    }

    /// Sets how events are decoded, and the limits.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.config.options = options;
        self
    }

    /// Sets how the JSON of the text binding is read.
    #[must_use]
    pub fn reading(mut self, reading: Reading) -> Self {
        self.config.reading = reading;
        self
    }

    /// Sets headers that every request has. The ones that the binding sets are not changed.
    #[must_use]
    pub fn headers(mut self, headers: HeaderMap) -> Self {
        self.config.headers = headers;
        self
    }

    /// Asks for the text binding alone.
    #[must_use]
    pub fn sse_only(mut self) -> Self {
        self.config.sse_only = true;
        self
    }

    /// Asks for compressed bodies, and reads them within these limits.
    #[cfg(feature = "compression")]
    #[must_use]
    pub fn compressed(mut self, limits: InflateLimits) -> Self {
        self.config.inflate = Some(limits);
        self
    }

    /// Makes the client.
    ///
    /// Redirections are followed if they keep the request as it is (307 and 308), at most 5 times,
    /// and the next one is a [`ClientError::Http`]; any other is an error status. With the feature `tls`, rustls with ring is made the process's
    /// default if it has none.
    ///
    /// # Errors
    ///
    /// [`ClientError::Http`] if the system has no resolver, or no roots of trust for TLS.
    pub fn build(self) -> Result<Client, ClientError> {
        self.build_with(reqwest::Client::builder())
    }

    /// As [`ClientBuilder::build`], over an HTTP client with settings of the caller's: for proxies,
    /// certificates, cookies. What this builder sets replaces what `http` has.
    ///
    /// With the feature `tls` another HTTP client of reqwest can only be built once a default of
    /// rustls is there, as after this call.
    ///
    /// # Errors
    ///
    /// As [`ClientBuilder::build`], and for settings that reqwest refuses.
    pub fn build_with(self, http: reqwest::ClientBuilder) -> Result<Client, ClientError> {
        #[cfg(feature = "tls")]
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            // Another thread may have been faster, which is as good.
            drop(rustls::crypto::ring::default_provider().install_default());
        }
        let http = http
            .connect_timeout(self.connect_timeout)
            .redirect(redirects())
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .build()?;
        Ok(Client::over(http, self.config))
    }
}
