//! A password in memory: never printed, never written, wiped when dropped.

use std::fmt;
use zeroize::Zeroizing;

/// There is no way to show, compare in logs or serialize it; who needs the text asks with [`Secret::expose`].
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    pub fn new(text: String) -> Self {
        Secret(Zeroizing::new(text))
    }

    /// For handing it to the server or the keychain, nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_does_not_print_itself() {
        let secret = Secret::new("hunter2".into());
        assert_eq!(
            format!("{secret:?} {:#?}", Some(&secret)),
            "*** Some(\n    ***,\n)"
        );
        assert_eq!(secret.expose(), "hunter2");
    }
}
