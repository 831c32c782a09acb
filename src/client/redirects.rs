//! Which redirections are followed.

use http::StatusCode;
use reqwest::redirect::Policy;

/// How many are followed.
const MAX_REDIRECTS: usize = 5;

/// Those that keep the request as it is: a run that is asked for by another method is another run.
pub(crate) fn redirects() -> Policy {
    Policy::custom(|attempt| match attempt.status() {
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => {
            if attempt.previous().len() <= MAX_REDIRECTS {
                return attempt.follow();
            }
            let is_circle = attempt.previous().contains(attempt.url());
            let how = if is_circle { ", in a circle" } else { "" };
            attempt.error(format!("redirected more than {MAX_REDIRECTS} times{how}"))
        }
        _ => attempt.stop(),
    })
}
