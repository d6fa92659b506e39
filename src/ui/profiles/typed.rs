//! A password while it is being typed.

use std::fmt;

use eframe::egui::text_edit::TextEditState;
use eframe::egui::{Id, Response, TextEdit, Ui};

use crate::model::secret::Secret;

/// What stands in a password field. Never printed; wiped when taken or dropped.
#[derive(Default)]
pub struct TypedPassword {
    text: String,
}

impl TypedPassword {
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    #[cfg(test)]
    pub fn from_text(text: &str) -> Self {
        TypedPassword {
            text: text.to_owned(),
        }
    }

    /// Takes it out of the field; None if nothing was typed.
    pub fn take(&mut self) -> Option<Secret> {
        let secret = Secret::new(std::mem::take(&mut self.text));
        (!secret.is_empty()).then_some(secret)
    }

    /// A copy, with the field left as it is: for a test before saving.
    pub fn copy(&self) -> Option<Secret> {
        (!self.text.is_empty()).then(|| Secret::new(self.text.clone()))
    }

    /// The field. egui keeps what was typed for its undo; that is thrown away as soon as the field is left.
    pub fn field_ui(&mut self, ui: &mut Ui, id: Id, width: f32) -> Response {
        // Room for a long password from the start: a growing buffer leaves copies behind.
        self.text.reserve(256_usize.saturating_sub(self.text.len()));
        let field = TextEdit::singleline(&mut self.text)
            .id(id)
            .password(true)
            .desired_width(width);
        let response = ui.add(field);
        if response.lost_focus() || self.text.is_empty() {
            ui.data_mut(|data| data.remove::<TextEditState>(id));
        }
        response
    }
}

impl Drop for TypedPassword {
    fn drop(&mut self) {
        drop(self.take());
    }
}

impl fmt::Debug for TypedPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_password_does_not_print_itself_and_is_gone_once_taken() {
        let mut typed = TypedPassword {
            text: "hunter2".into(),
        };
        assert_eq!(format!("{typed:?}"), "***");
        assert_eq!(
            typed.take().map(|s| s.expose().to_owned()),
            Some("hunter2".into())
        );
        assert!(typed.take().is_none());
    }
}
