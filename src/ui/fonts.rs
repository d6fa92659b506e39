//! The typefaces, embedded: Noto Sans for text, its semibold for headings, Noto Sans Mono for SQL and GTID sets, and
//! Noto Sans CJK SC behind all of them. Where the files come from: `assets/fonts/README.md`.
//!
//! Sizes are not here but in `theme`.

use std::sync::Arc;

use eframe::egui::{Context, FontData, FontDefinitions, FontFamily, FontId};

macro_rules! font {
    ($file:literal) => {
        (
            $file,
            include_bytes!(concat!("../../assets/fonts/", $file)) as &'static [u8],
        )
    };
}

const TEXT: (&str, &[u8]) = font!("NotoSans-Regular.ttf");
const SEMIBOLD: (&str, &[u8]) = font!("NotoSans-SemiBold.ttf");
const MONO: (&str, &[u8]) = font!("NotoSansMono-Regular.ttf");
const MATH: (&str, &[u8]) = font!("NotoSansMath-Regular.ttf");
const SYMBOLS: (&str, &[u8]) = font!("NotoSansSymbols2-Regular.ttf");
const CHINESE: (&str, &[u8]) = font!("NotoSansCJKsc-Regular.otf");
const CHINESE_BOLD: (&str, &[u8]) = font!("NotoSansCJKsc-Bold.otf");

/// The family for headings and names. A family of its own because egui has no font weights.
pub fn semibold_family() -> FontFamily {
    FontFamily::Name("semibold".into())
}

/// A semibold font of this size.
pub fn semibold(size: f32) -> FontId {
    FontId::new(size, semibold_family())
}

/// Makes the embedded fonts known; they are there from the next frame on, so call it before the first.
pub fn install(ctx: &Context) {
    ctx.set_fonts(definitions());
}

/// egui's own fonts stay last in each family: their emoji may occur in a server's name or error text.
fn definitions() -> FontDefinitions {
    let mut fonts = FontDefinitions::default();
    for (name, bytes) in [TEXT, SEMIBOLD, MONO, MATH, SYMBOLS, CHINESE, CHINESE_BOLD] {
        fonts
            .font_data
            .insert(name.to_owned(), Arc::new(FontData::from_static(bytes)));
    }
    let egui_own = fonts
        .families
        .get(&FontFamily::Proportional)
        .cloned()
        .unwrap_or_default();
    let chain = |own: &[&str]| {
        let own = own.iter().map(|name| name.to_string());
        own.chain(egui_own.iter().cloned()).collect::<Vec<_>>()
    };
    let (text, semibold, mono) = (TEXT.0, SEMIBOLD.0, MONO.0);
    let (math, symbols) = (MATH.0, SYMBOLS.0);
    let (chinese, chinese_bold) = (CHINESE.0, CHINESE_BOLD.0);
    fonts.families.insert(
        FontFamily::Proportional,
        chain(&[text, math, symbols, chinese]),
    );
    fonts.families.insert(
        semibold_family(),
        chain(&[semibold, math, symbols, chinese_bold, chinese]),
    );
    fonts.families.insert(
        FontFamily::Monospace,
        chain(&[mono, math, symbols, chinese]),
    );
    fonts
}

#[cfg(test)]
mod tests {
    use super::*;
    use eframe::egui::RawInput;

    /// Runs one frame, because fonts exist only inside one.
    fn with_fonts<R>(ask: impl Fn(&Context) -> R) -> R {
        let ctx = Context::default();
        install(&ctx);
        let mut answer = None;
        let output = ctx.run_ui(RawInput::default(), |ui| answer = Some(ask(ui.ctx())));
        output.drop_without_applying_deltas();
        answer.expect("one frame ran")
    }

    fn families() -> [FontFamily; 3] {
        [
            FontFamily::Proportional,
            semibold_family(),
            FontFamily::Monospace,
        ]
    }

    #[test]
    fn every_family_has_what_the_screens_write() {
        let signs =
            "Größe café Ωμέγα Ёжик … – — “” · × ± µ − ≤ ≥ ≈ ∞ ← ↑ → ↓ ● ○ ■ ▲ ▼ ◆ ✓ ✗ ▾ ▸ Δ";
        let chinese =
            "源 副本 回放线程 接收线程 延迟 半同步 积压 阈值 拓扑 囗 齄 ，。：；？！（）《》“”、￥";
        for family in families() {
            let font = FontId::new(14.0, family.clone());
            let missing = with_fonts(|ctx| {
                ctx.fonts_mut(|fonts| {
                    (signs.chars().chain(chinese.chars()))
                        .filter(|c| !fonts.has_glyph(&font, *c))
                        .collect::<String>()
                })
            });
            assert_eq!(missing, "", "missing in {family:?}");
        }
    }

    #[test]
    fn every_sentence_of_both_languages_can_be_drawn() {
        use crate::words::{Catalogue, Language};
        let entries = || {
            let catalogues = Language::ALL.into_iter().map(Catalogue::of);
            catalogues.flat_map(Catalogue::entries)
        };
        let fonts = families().map(|family| FontId::new(14.0, family));
        let missing: Vec<String> = with_fonts(|ctx| {
            ctx.fonts_mut(|drawn| {
                let mut can_draw = |line| fonts.iter().all(|font| drawn.has_glyphs(font, line));
                entries()
                    .filter(|(_, sentence)| !sentence.lines().all(&mut can_draw))
                    .map(|(key, sentence)| format!("{key}: {sentence}"))
                    .collect()
            })
        });
        assert_eq!(missing, Vec::<String>::new());
    }

    #[test]
    fn digits_are_all_equally_wide() {
        for family in families() {
            let font = FontId::new(14.0, family.clone());
            let widths: Vec<f32> = with_fonts(|ctx| {
                ctx.fonts_mut(|fonts| {
                    ('0'..='9')
                        .map(|digit| fonts.glyph_width(&font, digit))
                        .collect()
                })
            });
            assert!(widths[0] > 0.0);
            assert!(
                widths.iter().all(|w| *w == widths[0]),
                "{family:?}: {widths:?}"
            );
        }
    }

    #[test]
    fn semibold_is_another_face_than_text() {
        let widths = with_fonts(|ctx| {
            ctx.fonts_mut(|fonts| {
                let text = fonts.glyph_width(&FontId::proportional(14.0), 'm');
                (text, fonts.glyph_width(&semibold(14.0), 'm'))
            })
        });
        assert!(widths.0 < widths.1, "{widths:?}");
    }
}
