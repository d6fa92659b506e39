//! The languages spoken, and which one a person's system asks for.

/// A language with a catalogue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Language {
    #[default]
    English,
    SimplifiedChinese,
}

impl Language {
    pub const ALL: [Language; 2] = [Language::English, Language::SimplifiedChinese];

    /// From what a system calls it: `zh_CN.UTF-8`, `zh-Hans-CN`, `en_GB`, `C`. Whatever has no catalogue gets
    /// English; every kind of Chinese gets ours, as the nearest there is.
    pub fn from_locale(locale: &str) -> Self {
        let language = locale.split(['_', '-', '.', '@']).next().unwrap_or("");
        if language.eq_ignore_ascii_case("zh") {
            Language::SimplifiedChinese
        } else {
            Language::English
        }
    }

    /// The tag, as in the names of the catalogue files and in the settings.
    pub fn tag(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::SimplifiedChinese => "zh-CN",
        }
    }

    /// What its speakers call it, for the menu that chooses it.
    pub fn own_name(self) -> &'static str {
        match self {
            Language::English => "English",
            Language::SimplifiedChinese => "简体中文",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locale_chooses_the_language() {
        for (locale, language) in [
            ("zh_CN.UTF-8", Language::SimplifiedChinese),
            ("zh-CN", Language::SimplifiedChinese),
            ("zh-Hans", Language::SimplifiedChinese),
            ("ZH_SG", Language::SimplifiedChinese),
            ("zh", Language::SimplifiedChinese),
            ("en_GB.UTF-8", Language::English),
            ("de_DE@euro", Language::English),
            ("zha", Language::English),
            ("C.UTF-8", Language::English),
            ("", Language::English),
        ] {
            assert_eq!(Language::from_locale(locale), language, "{locale}");
        }
    }

    #[test]
    fn the_tag_finds_the_language_again() {
        for language in Language::ALL {
            assert_eq!(Language::from_locale(language.tag()), language);
        }
    }
}
