//! Functions of texts.

use rusqlite::types::ValueRef;
use sha1::{Digest, Sha1};
use sha2::{Sha256, Sha512};

use super::{BYTES, Function, INT, LONGEST, MANY, TEXT, Value};
use super::{Given, int, length, of_the_moment, pure, seeing_nulls, text};

pub const FUNCTIONS: &[Function] = &[
    pure("CONCAT", (1, MANY), TEXT, |_, a| {
        if a.iter().map(|part| length(*part)).sum::<usize>() > LONGEST {
            return Ok(Value::Null);
        }
        told(a.iter().map(|part| text(*part)).collect::<String>())
    }),
    seeing_nulls(pure("CONCAT_WS", (2, MANY), TEXT, |_, a| {
        let separators = length(a[0]).saturating_mul(a.len());
        let parts: usize = a[1..].iter().map(|part| length(*part)).sum();
        if a[0] == ValueRef::Null || separators.saturating_add(parts) > LONGEST {
            return Ok(Value::Null);
        }
        let parts: Vec<String> = a[1..]
            .iter()
            .filter(|part| **part != ValueRef::Null)
            .map(|part| text(*part))
            .collect();
        told(parts.join(&text(a[0])))
    })),
    pure("LENGTH", (1, 1), INT, |_, a| count(bytes(a[0]).len())),
    pure("OCTET_LENGTH", (1, 1), INT, |_, a| count(bytes(a[0]).len())),
    pure("BIT_LENGTH", (1, 1), INT, |_, a| {
        count(bytes(a[0]).len() * 8)
    }),
    pure("CHAR_LENGTH", (1, 1), INT, |_, a| {
        count(text(a[0]).chars().count())
    }),
    pure("CHARACTER_LENGTH", (1, 1), INT, |_, a| {
        count(text(a[0]).chars().count())
    }),
    pure("LOWER", (1, 1), TEXT, |_, a| {
        told(text(a[0]).to_lowercase())
    }),
    pure("LCASE", (1, 1), TEXT, |_, a| {
        told(text(a[0]).to_lowercase())
    }),
    pure("UPPER", (1, 1), TEXT, |_, a| {
        told(text(a[0]).to_uppercase())
    }),
    pure("UCASE", (1, 1), TEXT, |_, a| {
        told(text(a[0]).to_uppercase())
    }),
    pure("LEFT", (2, 2), TEXT, |_, a| {
        let length = int(a[1]).max(0) as usize;
        told(text(a[0]).chars().take(length).collect::<String>())
    }),
    pure("RIGHT", (2, 2), TEXT, |_, a| {
        let chars: Vec<char> = text(a[0]).chars().collect();
        let length = (int(a[1]).max(0) as usize).min(chars.len());
        told(chars[chars.len() - length..].iter().collect::<String>())
    }),
    pure("SUBSTRING", (2, 3), TEXT, |_, a| substring(a)),
    pure("SUBSTR", (2, 3), TEXT, |_, a| substring(a)),
    pure("MID", (3, 3), TEXT, |_, a| substring(a)),
    pure("SUBSTRING_INDEX", (3, 3), TEXT, |_, a| {
        told(substring_index(&text(a[0]), &text(a[1]), int(a[2])))
    }),
    pure("LOCATE", (2, 3), INT, |_, a| {
        let from = a.get(2).map_or(1, |from| int(*from));
        locate(&text(a[0]), &text(a[1]), from)
    }),
    pure("INSTR", (2, 2), INT, |_, a| {
        locate(&text(a[1]), &text(a[0]), 1)
    }),
    pure("REPLACE", (3, 3), TEXT, |_, a| {
        let what = text(a[1]);
        let whole = text(a[0]);
        if what.is_empty() {
            return told(whole);
        }
        let grown = whole.matches(&what).count().saturating_mul(length(a[2]));
        if grown > LONGEST {
            return Ok(Value::Null);
        }
        told(whole.replace(&what, &text(a[2])))
    }),
    pure("INSERT", (4, 4), TEXT, |_, a| insert(a)),
    pure("REPEAT", (2, 2), TEXT, |_, a| {
        let times = int(a[1]).clamp(0, 1_000_000) as usize;
        let whole = text(a[0]);
        Ok(if whole.len() * times > LONGEST {
            Value::Null
        } else {
            Value::Text(whole.repeat(times))
        })
    }),
    pure("SPACE", (1, 1), TEXT, |_, a| {
        told(" ".repeat(int(a[0]).clamp(0, 1_000_000) as usize))
    }),
    pure("REVERSE", (1, 1), TEXT, |_, a| {
        told(text(a[0]).chars().rev().collect::<String>())
    }),
    pure("LPAD", (3, 3), TEXT, |_, a| padded(a, true)),
    pure("RPAD", (3, 3), TEXT, |_, a| padded(a, false)),
    pure("LTRIM", (1, 1), TEXT, |_, a| {
        told(text(a[0]).trim_start_matches(' '))
    }),
    pure("RTRIM", (1, 1), TEXT, |_, a| {
        told(text(a[0]).trim_end_matches(' '))
    }),
    // TRIM([LEADING|TRAILING|BOTH] what FROM text): what, text, where.
    pure("TRIM", (1, 3), TEXT, |_, a| trimmed(a)),
    pure("ASCII", (1, 1), INT, |_, a| {
        Ok(Value::Int(bytes(a[0]).first().copied().unwrap_or(0).into()))
    }),
    pure("ORD", (1, 1), INT, |_, a| {
        Ok(Value::Int(bytes(a[0]).first().copied().unwrap_or(0).into()))
    }),
    pure("CHAR", (1, MANY), TEXT, |_, a| {
        let chars = a.iter().filter_map(|code| u8::try_from(int(*code)).ok());
        told(chars.map(char::from).collect::<String>())
    }),
    seeing_nulls(pure("FIELD", (2, MANY), INT, |_, a| {
        let wanted = folded(a[0]);
        let found = a[1..].iter().position(|one| {
            *one != ValueRef::Null && a[0] != ValueRef::Null && folded(*one) == wanted
        });
        count(found.map_or(0, |place| place + 1))
    })),
    pure("FIND_IN_SET", (2, 2), INT, |_, a| {
        let (wanted, list) = (folded(a[0]), folded(a[1]));
        count(
            list.split(',')
                .position(|one| one == wanted)
                .map_or(0, |place| place + 1),
        )
    }),
    seeing_nulls(pure("ELT", (2, MANY), TEXT, |_, a| {
        let chosen = usize::try_from(int(a[0])).ok().filter(|place| *place > 0);
        Ok(chosen
            .and_then(|place| a.get(place))
            .map_or(Value::Null, |one| super::owned(*one)))
    })),
    pure("STRCMP", (2, 2), INT, |_, a| {
        Ok(Value::Int(folded(a[0]).cmp(&folded(a[1])) as i64))
    }),
    pure("HEX", (1, 1), TEXT, |_, a| {
        told(match a[0] {
            ValueRef::Integer(n) => format!("{n:X}"),
            other => hex(&bytes(other)),
        })
    }),
    pure("UNHEX", (1, 1), BYTES, |_, a| {
        Ok(unhex(&text(a[0])).map_or(Value::Null, Value::Bytes))
    }),
    pure("SHA1", (1, 1), TEXT, |_, a| {
        told(hex(&Sha1::digest(bytes(a[0]))).to_lowercase())
    }),
    pure("SHA", (1, 1), TEXT, |_, a| {
        told(hex(&Sha1::digest(bytes(a[0]))).to_lowercase())
    }),
    pure("SHA2", (2, 2), TEXT, |_, a| {
        let bytes = bytes(a[0]);
        Ok(match int(a[1]) {
            0 | 256 => Value::Text(hex(&Sha256::digest(bytes)).to_lowercase()),
            512 => Value::Text(hex(&Sha512::digest(bytes)).to_lowercase()),
            _ => Value::Null,
        })
    }),
    seeing_nulls(pure("QUOTE", (1, 1), TEXT, |_, a| {
        told(if a[0] == ValueRef::Null {
            "NULL".to_owned()
        } else {
            format!(
                "'{}'",
                text(a[0]).replace('\\', "\\\\").replace('\'', "\\'")
            )
        })
    })),
    of_the_moment(pure("UUID", (0, 0), TEXT, |_, _| told(uuid()))),
    of_the_moment(pure("UUID_SHORT", (0, 0), INT, |frame, _| {
        frame.uuid_counter += 1;
        Ok(Value::Int(
            (frame.now_micros / 1_000_000) << 24 | frame.uuid_counter as i64,
        ))
    })),
    pure("UUID_TO_BIN", (1, 2), BYTES, |_, a| {
        Ok(unhex(&text(a[0]).replace('-', "")).map_or(Value::Null, Value::Bytes))
    }),
    pure("BIN_TO_UUID", (1, 2), TEXT, |_, a| {
        told(dashed(&hex(&bytes(a[0])).to_lowercase()))
    }),
    pure("TO_TEXT", (1, 2), TEXT, |_, a| {
        let whole = text(a[0]);
        told(match a.get(1) {
            Some(length) => whole.chars().take(int(*length).max(0) as usize).collect(),
            None => whole,
        })
    }),
    pure("TO_BYTES", (1, 1), BYTES, |_, a| {
        Ok(Value::Bytes(bytes(a[0])))
    }),
    // A decimal as a text: number, digits after the point.
    pure("DECIMAL_TEXT", (2, 2), TEXT, |_, a| {
        let digits = int(a[1]).clamp(0, 30) as usize;
        told(format!("{:.digits$}", super::number(a[0])))
    }),
];

fn told(text: impl Into<String>) -> Given {
    Ok(Value::Text(text.into()))
}

fn count(number: usize) -> Given {
    Ok(Value::Int(number as i64))
}

fn bytes(given: ValueRef<'_>) -> Vec<u8> {
    match given {
        ValueRef::Blob(bytes) | ValueRef::Text(bytes) => bytes.to_vec(),
        other => text(other).into_bytes(),
    }
}

fn folded(given: ValueRef<'_>) -> String {
    text(given).to_lowercase()
}

/// From 1; from the end when negative.
fn substring(a: &[ValueRef<'_>]) -> Given {
    let chars: Vec<char> = text(a[0]).chars().collect();
    let length = chars.len() as i64;
    let from = match int(a[1]) {
        0 => return told(""),
        from if from > 0 => from - 1,
        from => length + from,
    };
    let wanted = a.get(2).map_or(length, |wanted| int(*wanted));
    if from < 0 || from >= length || wanted <= 0 {
        return told("");
    }
    let end = from.saturating_add(wanted).min(length);
    told(
        chars[from as usize..end as usize]
            .iter()
            .collect::<String>(),
    )
}

fn substring_index(whole: &str, separator: &str, count: i64) -> String {
    if separator.is_empty() || count == 0 {
        return String::new();
    }
    let parts: Vec<&str> = whole.split(separator).collect();
    let wanted = (count.unsigned_abs() as usize).min(parts.len());
    if count > 0 {
        parts[..wanted].join(separator)
    } else {
        parts[parts.len() - wanted..].join(separator)
    }
}

fn locate(what: &str, whole: &str, from: i64) -> Given {
    let fold = |text: &str| -> Vec<char> { text.to_lowercase().chars().collect() };
    let (what, whole) = (fold(what), fold(whole));
    let Some(start) = usize::try_from(from).ok().and_then(|f| f.checked_sub(1)) else {
        return Ok(Value::Int(0));
    };
    if start > whole.len() || what.is_empty() {
        return count(if start <= whole.len() { start + 1 } else { 0 });
    }
    let found = whole[start..]
        .windows(what.len())
        .position(|window| window == what);
    count(found.map_or(0, |place| start + place + 1))
}

fn insert(a: &[ValueRef<'_>]) -> Given {
    let chars: Vec<char> = text(a[0]).chars().collect();
    let from = int(a[1]).saturating_sub(1);
    if from < 0 || from >= chars.len() as i64 {
        return told(text(a[0]));
    }
    let from = from as usize;
    let length = int(a[2]);
    let end = if length < 0 {
        chars.len()
    } else {
        from.saturating_add(length as usize).min(chars.len())
    };
    let mut out: String = chars[..from].iter().collect();
    out.push_str(&text(a[3]));
    out.extend(&chars[end..]);
    told(out)
}

fn padded(a: &[ValueRef<'_>], left: bool) -> Given {
    let chars: Vec<char> = text(a[0]).chars().collect();
    let wanted = int(a[1]);
    let fill: Vec<char> = text(a[2]).chars().collect();
    let Ok(wanted) = usize::try_from(wanted) else {
        return Ok(Value::Null);
    };
    if wanted <= chars.len() {
        return told(chars[..wanted].iter().collect::<String>());
    }
    if fill.is_empty() || wanted > 16 << 20 {
        return told("");
    }
    let padding: String = fill.iter().cycle().take(wanted - chars.len()).collect();
    let whole: String = chars.iter().collect();
    told(if left {
        padding + &whole
    } else {
        whole + &padding
    })
}

fn trimmed(a: &[ValueRef<'_>]) -> Given {
    let (what, whole, side) = match a {
        [whole] => (" ".to_owned(), text(*whole), String::new()),
        [what, whole] => (text(*what), text(*whole), String::new()),
        _ => (text(a[0]), text(a[1]), text(a[2])),
    };
    if what.is_empty() {
        return told(whole);
    }
    let mut rest = whole.as_str();
    if side != "TRAILING" {
        rest = rest.trim_start_matches(what.as_str());
    }
    if side != "LEADING" {
        rest = rest.trim_end_matches(what.as_str());
    }
    told(rest)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok())
        .collect()
}

fn uuid() -> String {
    dashed(&format!("{:032x}", fastrand::u128(..)))
}

fn dashed(hex: &str) -> String {
    if hex.len() != 32 {
        return hex.to_owned();
    }
    [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ]
    .join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_before_or_behind_the_nth_separator() {
        for (count, wanted) in [
            (1, "www"),
            (2, "www.mysql"),
            (-2, "mysql.com"),
            (9, "www.mysql.com"),
            (0, ""),
        ] {
            assert_eq!(substring_index("www.mysql.com", ".", count), wanted);
        }
    }
}
