//! The palette and the scale in egui's terms.

use eframe::egui::style::{ScrollStyle, Selection, WidgetVisuals, Widgets};
use eframe::egui::{
    Color32, CornerRadius, FontFamily, FontId, Margin, Shadow, Stroke, Style, TextStyle, Visuals,
    vec2,
};

use super::{CORNER, Palette, SMALL_CORNER, UNIT, fonts, size};

/// Everything egui draws by itself, in this palette.
pub fn style(palette: &Palette) -> Style {
    let mut style = Style {
        visuals: visuals(palette),
        animation_time: 0.08,
        ..Style::default()
    };
    style.text_styles = [
        (TextStyle::Small, FontId::proportional(size::SMALL)),
        (TextStyle::Body, FontId::proportional(size::BODY)),
        (TextStyle::Button, FontId::proportional(size::BODY)),
        (TextStyle::Heading, fonts::semibold(size::TITLE)),
        (
            TextStyle::Monospace,
            FontId::new(size::MONO, FontFamily::Monospace),
        ),
    ]
    .into();
    let spacing = &mut style.spacing;
    spacing.item_spacing = vec2(2.0 * UNIT, UNIT);
    spacing.button_padding = vec2(2.5 * UNIT, UNIT);
    spacing.menu_margin = Margin::same(UNIT as i8);
    spacing.window_margin = Margin::same((4.0 * UNIT) as i8);
    spacing.interact_size = vec2(10.0 * UNIT, 6.5 * UNIT);
    spacing.tooltip_width = 420.0;
    spacing.scroll = ScrollStyle {
        foreground_color: true,
        // Beside the content, not over the edge of its cards.
        floating_allocated_width: 2.0 * UNIT,
        ..ScrollStyle::floating()
    };
    // Labels are read, not selected: values have copy buttons, and error texts ask for it
    style.interaction.selectable_labels = false;
    style.interaction.tooltip_delay = 0.3;
    style
}

fn visuals(palette: &Palette) -> Visuals {
    let base = if palette.is_dark() {
        Visuals::dark()
    } else {
        Visuals::light()
    };
    let shadow = Shadow {
        offset: [0, 4],
        blur: 16,
        spread: 0,
        color: Color32::from_black_alpha(if palette.is_dark() { 110 } else { 36 }),
    };
    let line = Stroke::new(1.0, palette.line);
    Visuals {
        weak_text_color: Some(palette.dim),
        widgets: widgets(palette),
        selection: Selection {
            bg_fill: palette.selected,
            stroke: Stroke::new(1.0, palette.on_selected),
        },
        hyperlink_color: palette.accent,
        faint_bg_color: palette.panel,
        extreme_bg_color: palette.field,
        text_edit_bg_color: Some(palette.field),
        code_bg_color: palette.field,
        warn_fg_color: palette.warning,
        error_fg_color: palette.critical,
        window_corner_radius: CornerRadius::same(CORNER),
        menu_corner_radius: CornerRadius::same(CORNER),
        window_fill: palette.card,
        window_stroke: line,
        window_shadow: shadow,
        popup_shadow: shadow,
        panel_fill: palette.background,
        striped: false,
        ..base
    }
}

fn widgets(palette: &Palette) -> Widgets {
    let line = Stroke::new(1.0, palette.line);
    let quiet = WidgetVisuals {
        bg_fill: palette.card,
        weak_bg_fill: palette.card,
        bg_stroke: line,
        corner_radius: CornerRadius::same(SMALL_CORNER),
        fg_stroke: Stroke::new(1.0, palette.text),
        expansion: 0.0,
    };
    let touched = WidgetVisuals {
        bg_fill: palette.hovered,
        weak_bg_fill: palette.hovered,
        ..quiet
    };
    Widgets {
        noninteractive: quiet,
        inactive: quiet,
        hovered: WidgetVisuals {
            bg_stroke: Stroke::new(1.0, palette.dim),
            ..touched
        },
        // pressed, and also what has the keyboard: the accent is the focus ring
        active: WidgetVisuals {
            bg_stroke: Stroke::new(1.5, palette.accent),
            ..touched
        },
        open: touched,
    }
}
