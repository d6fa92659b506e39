//! Things said once. A notice stays in its place on the screen until its cause is gone; a toast says what just
//! happened and leaves by itself.

use std::collections::VecDeque;

use eframe::egui::{Align, Context};
use eframe::egui::{
    Align2, Area, Frame, Id, Label, Layout, Margin, Order, Response, Stroke, Ui, vec2,
};

use super::quiet_button_ui;
use super::sign::{Sign, place_sign};
use crate::ui::theme::{self, CORNER, UNIT};

/// One line across the screen: a sign, what is the case, and at its end what to do about it. True when that was
/// pressed.
pub fn notice_ui(ui: &mut Ui, sign: Sign, text: &str, action: Option<&str>) -> bool {
    let mut pressed = false;
    frame(ui, sign).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.horizontal(|ui| {
            place_sign(ui, sign);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if let Some(action) = action {
                    pressed = quiet_button_ui(ui, action).clicked();
                }
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.add(Label::new(text).truncate())
                });
            });
        });
    });
    pressed
}

/// How long a toast stays.
const TOAST_SHOWS_SECS: f64 = 5.0;
/// So many at once; an older one leaves early.
const TOASTS_AT_ONCE: usize = 4;

/// What just happened, newest last, in the lower right corner.
#[derive(Debug, Default)]
pub struct Toasts {
    shown: VecDeque<Toast>,
}

#[derive(Debug)]
struct Toast {
    sign: Sign,
    text: String,
    /// In egui's time; none before its first frame.
    until: Option<f64>,
}

impl Toasts {
    pub fn say(&mut self, sign: Sign, text: impl Into<String>) {
        let text = text.into();
        self.shown.push_back(Toast {
            sign,
            text,
            until: None,
        });
        while self.shown.len() > TOASTS_AT_ONCE {
            self.shown.pop_front();
        }
    }

    pub fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// Draws them over everything else and drops those whose time is up. Pressing one drops it at once.
    pub fn ui(&mut self, ctx: &Context) {
        let now = ctx.input(|input| input.time);
        for toast in &mut self.shown {
            toast.until.get_or_insert(now + TOAST_SHOWS_SECS);
        }
        self.shown
            .retain(|toast| toast.until.is_none_or(|until| now < until));
        let Some(next) = self
            .shown
            .iter()
            .filter_map(|toast| toast.until)
            .reduce(f64::min)
        else {
            return;
        };
        ctx.request_repaint_after_secs((next - now) as f32);
        let corner = vec2(-4.0 * UNIT, -10.0 * UNIT);
        Area::new(Id::unique("toasts"))
            .order(Order::Foreground)
            .anchor(Align2::RIGHT_BOTTOM, corner)
            .show(ctx, |ui| {
                ui.spacing_mut().item_spacing.y = 2.0 * UNIT;
                self.shown.retain(|toast| !toast_ui(ui, toast).clicked());
            });
    }
}

fn toast_ui(ui: &mut Ui, toast: &Toast) -> Response {
    let shadow = ui.visuals().popup_shadow;
    let shown = frame(ui, toast.sign).shadow(shadow).show(ui, |ui| {
        ui.set_max_width(90.0 * UNIT);
        ui.horizontal(|ui| {
            place_sign(ui, toast.sign);
            ui.label(&toast.text);
        });
    });
    shown.response.interact(eframe::egui::Sense::click())
}

fn frame(ui: &Ui, sign: Sign) -> Frame {
    let palette = theme::palette(ui);
    Frame::new()
        .fill(palette.card)
        .stroke(Stroke::new(1.0, palette.area(sign.color(palette))))
        .corner_radius(CORNER)
        .inner_margin(Margin::symmetric((3.0 * UNIT) as i8, (1.5 * UNIT) as i8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use eframe::egui::RawInput;

    fn frame_at(ctx: &Context, secs: f64, toasts: &mut Toasts) {
        let input = RawInput {
            time: Some(secs),
            ..RawInput::default()
        };
        let output = ctx.run_ui(input, |ui| toasts.ui(ui.ctx()));
        output.drop_without_applying_deltas();
    }

    #[test]
    fn a_toast_leaves_by_itself_counted_from_when_it_was_first_seen() {
        let ctx = Context::default();
        crate::ui::fonts::install(&ctx);
        crate::ui::theme::install(&ctx);
        let mut toasts = Toasts::default();
        toasts.say(Sign::Ok, "saved");
        frame_at(&ctx, 100.0, &mut toasts);
        frame_at(&ctx, 104.9, &mut toasts);
        assert!(!toasts.is_empty());
        frame_at(&ctx, 105.1, &mut toasts);
        assert!(toasts.is_empty());
    }

    #[test]
    fn a_flood_of_toasts_keeps_the_newest() {
        let mut toasts = Toasts::default();
        for n in 0..100 {
            toasts.say(Sign::Ok, n.to_string());
        }
        let texts: Vec<&str> = toasts.shown.iter().map(|t| t.text.as_str()).collect();
        assert_eq!(texts, ["96", "97", "98", "99"]);
    }
}
