//! The frame that belongs together: a card, with an edge in the colour of its state.

use eframe::egui::{
    Color32, CornerRadius, Frame, InnerResponse, Margin, Rect, Shape, Sides, Stroke, StrokeKind,
    Ui, epaint::RectShape,
};

use super::sign::{Sign, line_height, sign_word_ui};
use crate::ui::theme::{self, CORNER, UNIT};

/// The first line of a card about something with a state: its sign and name, and right, dim, what it is.
pub fn card_head_ui(ui: &mut Ui, sign: Sign, name: &str, kind: &str) {
    let kind = theme::note(ui, kind);
    let line = line_height(ui);
    Sides::new().height(line).shrink_left().truncate().show(
        ui,
        |ui| sign_word_ui(ui, sign, theme::strong(name)),
        |ui| ui.label(kind),
    );
}

/// Where the coloured edge runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Edge {
    #[default]
    None,
    Left(Color32),
    Top(Color32),
}

const EDGE: f32 = 3.0;

/// A card takes the width it is given and the height it needs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Card {
    edge: Edge,
    min_height: f32,
}

impl Card {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn edge(mut self, edge: Edge) -> Self {
        self.edge = edge;
        self
    }

    /// For cards side by side, which look wrong with different heights.
    pub fn min_height(mut self, min_height: f32) -> Self {
        self.min_height = min_height;
        self
    }

    pub fn show<R>(self, ui: &mut Ui, content: impl FnOnce(&mut Ui) -> R) -> InnerResponse<R> {
        let behind = ui.painter().add(Shape::Noop);
        let margin = Margin::same((3.5 * UNIT) as i8);
        let shown = Frame::new().inner_margin(margin).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.set_min_height((self.min_height - margin.sum().y).max(0.0));
            content(ui)
        });
        let shape = self.paint(shown.response.rect, ui);
        ui.painter().set(behind, shape);
        shown
    }

    fn paint(self, rect: Rect, ui: &Ui) -> Shape {
        let palette = theme::palette(ui);
        let line = Stroke::new(1.0, palette.line);
        let round = CornerRadius::same(CORNER);
        let (color, face, face_round) = match self.edge {
            Edge::None => {
                let card = RectShape::new(rect, round, palette.card, line, StrokeKind::Inside);
                return card.into();
            }
            Edge::Left(color) => {
                let face = rect.with_min_x(rect.min.x + EDGE);
                let inner = CORNER - EDGE as u8;
                let face_round = CornerRadius {
                    nw: inner,
                    sw: inner,
                    ..round
                };
                (color, face, face_round)
            }
            Edge::Top(color) => {
                let face = rect.with_min_y(rect.min.y + EDGE);
                let inner = CORNER - EDGE as u8;
                let face_round = CornerRadius {
                    nw: inner,
                    ne: inner,
                    ..round
                };
                (color, face, face_round)
            }
        };
        // A card over a slightly larger one in the edge's colour; the larger is cut where only the card's own corners
        // should show
        let back = match self.edge {
            Edge::Left(_) => rect.with_max_x(rect.min.x + 2.0 * f32::from(CORNER)),
            _ => rect.with_max_y(rect.min.y + 2.0 * f32::from(CORNER)),
        };
        let back_round = match self.edge {
            Edge::Left(_) => CornerRadius {
                ne: 0,
                se: 0,
                ..round
            },
            _ => CornerRadius {
                sw: 0,
                se: 0,
                ..round
            },
        };
        Shape::Vec(vec![
            RectShape::filled(back, back_round, color).into(),
            RectShape::new(face, face_round, palette.card, line, StrokeKind::Inside).into(),
        ])
    }
}
