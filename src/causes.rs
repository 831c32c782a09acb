//! Errors with what is below them.

use std::error::Error;

/// The error and its causes, which libraries of HTTP do not show, or show as their own.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let below = error.to_string();
        if !text.ends_with(&below) {
            text = format!("{text}: {below}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    #[derive(Debug)]
    struct Layer(&'static str, Option<Box<Layer>>);

    impl fmt::Display for Layer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Layer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|below| below as &dyn Error)
        }
    }

    #[test]
    fn each_cause_is_shown_once() {
        let below = |text, below| Some(Box::new(Layer(text, below)));
        let error = Layer("no answer", below("the pipe broke", below("the pipe broke", None)));
        assert_eq!(with_causes(&error), "no answer: the pipe broke");
        let error = Layer("no answer", below("sending", below("the pipe broke", None)));
        assert_eq!(with_causes(&error), "no answer: sending: the pipe broke");
    }
}
