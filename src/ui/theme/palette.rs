//! The colours of the dark and the light theme.
//!
//! Text colours keep 4.5 : 1 against what they are written on, lines of plots 3 : 1; the tests below measure it.

use eframe::egui::Color32;

/// How many series have a colour of their own, before they repeat.
pub const SERIES: usize = 8;

/// Every colour of one theme, by what it is for.
#[derive(Debug)]
pub struct Palette {
    /// Behind everything.
    pub background: Color32,
    /// Bars at the edges of the window.
    pub panel: Color32,
    pub card: Color32,
    /// Fields for typing.
    pub field: Color32,
    /// Borders and separators.
    pub line: Color32,
    /// Lines inside plots: hardly there.
    pub grid: Color32,
    pub text: Color32,
    pub dim: Color32,
    /// The one accent: what is chosen, what to press.
    pub accent: Color32,
    /// Text on the accent.
    pub on_accent: Color32,
    /// Behind what is chosen.
    pub selected: Color32,
    /// Text on `selected`.
    pub on_selected: Color32,
    pub hovered: Color32,
    pub ok: Color32,
    pub warning: Color32,
    pub critical: Color32,
    pub unknown: Color32,
    series: [Color32; SERIES],
}

impl Palette {
    pub fn of(dark: bool) -> &'static Palette {
        if dark { &DARK } else { &LIGHT }
    }

    /// The colour of a server in every plot. `index` is the server's place in its topology, so that it keeps its
    /// colour whatever else is shown.
    pub fn series(&self, index: usize) -> Color32 {
        self.series[index % SERIES]
    }

    /// A colour as a quiet area: spans of time in lanes, bands behind lines.
    pub fn area(&self, color: Color32) -> Color32 {
        let mix = |over: u8, under: u8| (f32::from(over) * 0.4 + f32::from(under) * 0.6) as u8;
        Color32::from_rgb(
            mix(color.r(), self.card.r()),
            mix(color.g(), self.card.g()),
            mix(color.b(), self.card.b()),
        )
    }

    pub fn is_dark(&self) -> bool {
        self.card.r() < 128
    }
}

pub static DARK: Palette = Palette {
    background: rgb(0x14171c),
    panel: rgb(0x1a1e25),
    card: rgb(0x1f242c),
    field: rgb(0x171b21),
    line: rgb(0x2c333d),
    grid: rgb(0x282e37),
    text: rgb(0xe6e9ee),
    dim: rgb(0x98a2b0),
    accent: rgb(0x4c9be8),
    on_accent: rgb(0x0d1620),
    selected: rgb(0x24354a),
    on_selected: rgb(0xe6e9ee),
    hovered: rgb(0x272e38),
    ok: rgb(0x5fb98a),
    warning: rgb(0xe5b04b),
    critical: rgb(0xef6a5b),
    unknown: rgb(0x8b95a3),
    // Okabe–Ito; its blue is too dark here and lightened, its black is a light grey
    series: [
        rgb(0x56b4e9),
        rgb(0xe69f00),
        rgb(0x009e73),
        rgb(0xcc79a7),
        rgb(0xf0e442),
        rgb(0xd55e00),
        rgb(0x3c7fd6),
        rgb(0xb8c0cb),
    ],
};

pub static LIGHT: Palette = Palette {
    background: rgb(0xf4f5f7),
    panel: rgb(0xfbfbfc),
    card: rgb(0xffffff),
    field: rgb(0xffffff),
    line: rgb(0xd9dde3),
    grid: rgb(0xe9ebef),
    text: rgb(0x1d232b),
    dim: rgb(0x5c6773),
    accent: rgb(0x1f6fb8),
    on_accent: rgb(0xffffff),
    selected: rgb(0xe1ecf7),
    on_selected: rgb(0x1d232b),
    hovered: rgb(0xeceff3),
    ok: rgb(0x1a7f52),
    warning: rgb(0x976200),
    critical: rgb(0xc8382a),
    unknown: rgb(0x646e7b),
    // the same hues, darkened until they are seen on white
    series: [
        rgb(0x2f94cc),
        rgb(0xb87a00),
        rgb(0x00845f),
        rgb(0xb4568a),
        rgb(0x727a00),
        rgb(0xc44a1c),
        rgb(0x00518c),
        rgb(0x5c6773),
    ],
};

const fn rgb(hex: u32) -> Color32 {
    Color32::from_rgb((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// WCAG 2: from 1 (the same) to 21 (black on white).
    fn contrast(a: Color32, b: Color32) -> f32 {
        let light = |color: Color32| {
            let linear = |channel: u8| (f32::from(channel) / 255.0).powf(2.2);
            0.2126 * linear(color.r()) + 0.7152 * linear(color.g()) + 0.0722 * linear(color.b())
        };
        let (a, b) = (light(a), light(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_can_be_read_on_all_it_is_written_on() {
        for p in [&DARK, &LIGHT] {
            for text in [
                p.text, p.dim, p.accent, p.ok, p.warning, p.critical, p.unknown,
            ] {
                for behind in [p.background, p.panel, p.card] {
                    let contrast = contrast(text, behind);
                    assert!(contrast >= 4.5, "{text:?} on {behind:?}: {contrast:.2}");
                }
            }
            assert!(contrast(p.on_accent, p.accent) >= 4.5);
            assert!(contrast(p.on_selected, p.selected) >= 4.5);
            assert!(contrast(p.dim, p.selected) >= 4.0);
        }
    }

    #[test]
    fn every_line_is_seen_on_a_card_and_told_from_the_others() {
        for p in [&DARK, &LIGHT] {
            for (n, line) in p.series.iter().enumerate() {
                let contrast = contrast(*line, p.card);
                assert!(contrast >= 3.0, "series {n}: {contrast:.2}");
                for other in &p.series[..n] {
                    let channels = line.to_array().into_iter().zip(other.to_array());
                    let apart: u32 = channels.map(|(a, b)| u32::from(a.abs_diff(b))).sum();
                    assert!(apart >= 60, "{line:?} and {other:?} are {apart} apart");
                }
            }
        }
    }

    #[test]
    fn a_server_keeps_its_color() {
        assert_eq!(DARK.series(1), DARK.series(1 + SERIES));
        assert_ne!(DARK.series(0), DARK.series(1));
    }
}
