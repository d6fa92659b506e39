//! Functions of JSON. Documents are texts; one that comes out of another function of JSON comes as bytes, so that it is
//! not taken for a string.

use rusqlite::types::ValueRef;
use serde_json::{Map, Value as Json};

use super::{Frame, Function, INT, MANY, TEXT, Value};
use super::{Given, pure, seeing_nulls, text};
use crate::lab::simulator::sql::problem::SqlProblem;

pub const FUNCTIONS: &[Function] = &[
    seeing_nulls(pure("JSON_OBJECT", (0, MANY), TEXT, object)),
    seeing_nulls(pure("JSON_ARRAY", (0, MANY), TEXT, |_, a| {
        told(&Json::Array(a.iter().map(|one| given(*one)).collect()))
    })),
    pure("JSON_EXTRACT", (2, MANY), TEXT, extract),
    seeing_nulls(pure("JSON_SET", (3, MANY), TEXT, |_, a| {
        changed("json_set", a, true, true)
    })),
    seeing_nulls(pure("JSON_INSERT", (3, MANY), TEXT, |_, a| {
        changed("json_insert", a, true, false)
    })),
    seeing_nulls(pure("JSON_REPLACE", (3, MANY), TEXT, |_, a| {
        changed("json_replace", a, false, true)
    })),
    pure("JSON_REMOVE", (2, MANY), TEXT, remove),
    pure("JSON_LENGTH", (1, 2), INT, |_, a| {
        let document = document("json_length", a[0])?;
        Ok(at(&document, a.get(1))?.map_or(Value::Null, |found| {
            Value::Int(match found {
                Json::Array(parts) => parts.len() as i64,
                Json::Object(parts) => parts.len() as i64,
                _ => 1,
            })
        }))
    }),
    pure("JSON_KEYS", (1, 2), TEXT, |_, a| {
        let document = document("json_keys", a[0])?;
        match at(&document, a.get(1))? {
            Some(Json::Object(parts)) => told(&Json::Array(
                sorted(parts)
                    .into_iter()
                    .map(|(key, _)| key.as_str().into())
                    .collect(),
            )),
            _ => Ok(Value::Null),
        }
    }),
    pure("JSON_TYPE", (1, 1), TEXT, |_, a| {
        Ok(Value::text(match document("json_type", a[0])? {
            Json::Null => "NULL",
            Json::Bool(_) => "BOOLEAN",
            Json::Number(number) if number.is_f64() => "DOUBLE",
            Json::Number(_) => "INTEGER",
            Json::String(_) => "STRING",
            Json::Array(_) => "ARRAY",
            Json::Object(_) => "OBJECT",
        }))
    }),
    pure("JSON_VALID", (1, 1), INT, |_, a| {
        Ok(serde_json::from_str::<Json>(&text(a[0])).is_ok().into())
    }),
    pure("JSON_CONTAINS", (2, 3), INT, |_, a| {
        let whole = document("json_contains", a[0])?;
        let wanted = document("json_contains", a[1])?;
        Ok(at(&whole, a.get(2))?.map_or(Value::Null, |found| contains(found, &wanted).into()))
    }),
    pure("JSON_CONTAINS_PATH", (3, MANY), INT, |_, a| {
        let document = document("json_contains_path", a[0])?;
        let mut found = Vec::new();
        for path in &a[2..] {
            found.push(!all_at(&document, &Step::path(*path)?).is_empty());
        }
        let all = text(a[1]).eq_ignore_ascii_case("all");
        Ok(if all {
            found.iter().all(|yes| *yes)
        } else {
            found.contains(&true)
        }
        .into())
    }),
    pure("JSON_QUOTE", (1, 1), TEXT, |_, a| {
        told(&Json::String(text(a[0])))
    }),
    pure("JSON_UNQUOTE", (1, 1), TEXT, |_, a| {
        let said = text(a[0]);
        Ok(match serde_json::from_str(&said) {
            Ok(Json::String(inner)) if said.starts_with('"') => Value::Text(inner),
            _ => Value::Text(said),
        })
    }),
    // What a comparison sees of a document.
    pure("JSON_SCALAR", (1, 1), TEXT, |_, a| {
        let said = text(a[0]);
        Ok(match serde_json::from_str::<Json>(&said) {
            Ok(Json::String(inner)) => Value::Text(inner),
            Ok(Json::Bool(yes)) => yes.into(),
            Ok(Json::Number(number)) => match number.as_i64() {
                Some(whole) => Value::Int(whole),
                None => Value::Double(number.as_f64().unwrap_or_default()),
            },
            _ => Value::Text(said),
        })
    }),
];

fn document(function: &str, given: ValueRef<'_>) -> Result<Json, SqlProblem> {
    serde_json::from_str(&text(given)).map_err(|error| {
        let place = error.column().saturating_sub(1);
        SqlProblem::new(
            3141,
            format!("Invalid JSON text in argument 1 to function {function}: \"Invalid value.\" at position {place}."),
        )
    })
}

/// A value as a part of a document.
fn given(value: ValueRef<'_>) -> Json {
    match value {
        ValueRef::Null => Json::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(_) => Json::String(text(value)),
        ValueRef::Blob(bytes) => serde_json::from_slice(bytes).unwrap_or(Json::Null),
    }
}

fn told(json: &Json) -> Given {
    Ok(Value::Text(written(json)))
}

/// As MySQL writes it: a blank behind commas and colons, short keys first.
fn written(json: &Json) -> String {
    match json {
        Json::Array(parts) => {
            let parts: Vec<String> = parts.iter().map(written).collect();
            format!("[{}]", parts.join(", "))
        }
        Json::Object(parts) => {
            let part = |(key, value): (&String, &Json)| {
                format!("{}: {}", Json::from(key.as_str()), written(value))
            };
            let parts: Vec<String> = sorted(parts).into_iter().map(part).collect();
            format!("{{{}}}", parts.join(", "))
        }
        other => other.to_string(),
    }
}

fn sorted(parts: &Map<String, Json>) -> Vec<(&String, &Json)> {
    let mut parts: Vec<_> = parts.iter().collect();
    parts.sort_by_key(|(key, _)| (key.len(), key.as_str()));
    parts
}

fn object(_: &mut Frame, a: &[ValueRef<'_>]) -> Given {
    if a.len() % 2 == 1 {
        let text = "Incorrect parameter count in the call to native function 'JSON_OBJECT'";
        return Err(SqlProblem::new(1582, text));
    }
    let pairs = a.chunks(2).map(|pair| (text(pair[0]), given(pair[1])));
    told(&Json::Object(pairs.collect()))
}

/// One step of a path: `.key`, `[1]`, `.*`, `[*]`.
#[derive(Debug, PartialEq)]
enum Step {
    Key(String),
    Place(usize),
    Last,
    Every,
}

impl Step {
    fn path(given: ValueRef<'_>) -> Result<Vec<Step>, SqlProblem> {
        let written = text(given);
        Step::read(&written).ok_or_else(|| {
            let text = "Invalid JSON path expression. The error is around character position 1.";
            SqlProblem::new(3143, text)
        })
    }

    fn read(written: &str) -> Option<Vec<Step>> {
        let mut rest = written.trim().strip_prefix('$')?;
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, after) = if let Some(inside) = rest.strip_prefix('[') {
                let (place, after) = inside.split_once(']')?;
                let step = match place.trim() {
                    "*" => Step::Every,
                    "last" => Step::Last,
                    place => Step::Place(place.parse().ok()?),
                };
                (step, after)
            } else if let Some(quoted) = rest.strip_prefix(".\"") {
                let (key, after) = quoted.split_once('"')?;
                (Step::Key(key.to_owned()), after)
            } else {
                let key = rest.strip_prefix('.')?;
                let end = key.find(['.', '[']).unwrap_or(key.len());
                let (key, after) = key.split_at(end);
                match key {
                    "" => return None,
                    "*" => (Step::Every, after),
                    key => (Step::Key(key.to_owned()), after),
                }
            };
            steps.push(step);
            rest = after;
        }
        Some(steps)
    }
}

fn all_at<'a>(document: &'a Json, path: &[Step]) -> Vec<&'a Json> {
    let mut found = vec![document];
    for step in path {
        found = found.into_iter().flat_map(|one| below(one, step)).collect();
    }
    found
}

fn below<'a>(json: &'a Json, step: &Step) -> Vec<&'a Json> {
    match (step, json) {
        (Step::Key(key), Json::Object(parts)) => parts.get(key).into_iter().collect(),
        (Step::Place(place), Json::Array(parts)) => parts.get(*place).into_iter().collect(),
        (Step::Last, Json::Array(parts)) => parts.last().into_iter().collect(),
        (Step::Every, Json::Array(parts)) => parts.iter().collect(),
        (Step::Every, Json::Object(parts)) => {
            sorted(parts).into_iter().map(|(_, value)| value).collect()
        }
        // What is no array is one of itself.
        (Step::Place(0) | Step::Last, scalar) if !scalar.is_array() => vec![scalar],
        _ => Vec::new(),
    }
}

fn at<'a>(document: &'a Json, path: Option<&ValueRef<'_>>) -> Result<Option<&'a Json>, SqlProblem> {
    let Some(path) = path else {
        return Ok(Some(document));
    };
    Ok(all_at(document, &Step::path(*path)?).first().copied())
}

fn extract(_: &mut Frame, a: &[ValueRef<'_>]) -> Given {
    let document = document("json_extract", a[0])?;
    let mut found = Vec::new();
    let mut is_one = a.len() == 2;
    for path in &a[1..] {
        let path = Step::path(*path)?;
        is_one &= !path.contains(&Step::Every);
        found.extend(all_at(&document, &path));
    }
    match &found[..] {
        [] => Ok(Value::Null),
        [one] if is_one => told(one),
        all => told(&Json::Array(all.iter().map(|one| (*one).clone()).collect())),
    }
}

fn changed(function: &str, a: &[ValueRef<'_>], adds: bool, replaces: bool) -> Given {
    if a[0] == ValueRef::Null {
        return Ok(Value::Null);
    }
    let mut document = document(function, a[0])?;
    for pair in a[1..].chunks(2) {
        let [path, value] = pair else {
            let text =
                format!("Incorrect parameter count in the call to native function '{function}'");
            return Err(SqlProblem::new(1582, text));
        };
        put(
            &mut document,
            &Step::path(*path)?,
            given(*value),
            adds,
            replaces,
        );
    }
    told(&document)
}

fn put(json: &mut Json, path: &[Step], value: Json, adds: bool, replaces: bool) {
    let Some((step, rest)) = path.split_first() else {
        if replaces {
            *json = value;
        }
        return;
    };
    match (step, json) {
        (Step::Key(key), Json::Object(parts)) => match parts.get_mut(key) {
            Some(part) => put(part, rest, value, adds, replaces),
            None if adds && rest.is_empty() => {
                parts.insert(key.clone(), value);
            }
            None => {}
        },
        (Step::Place(place), Json::Array(parts)) => match parts.get_mut(*place) {
            Some(part) => put(part, rest, value, adds, replaces),
            None if adds && rest.is_empty() => parts.push(value),
            None => {}
        },
        (Step::Last, Json::Array(parts)) => {
            if let Some(part) = parts.last_mut() {
                put(part, rest, value, adds, replaces);
            }
        }
        _ => {}
    }
}

fn remove(_: &mut Frame, a: &[ValueRef<'_>]) -> Given {
    let mut document = document("json_remove", a[0])?;
    for path in &a[1..] {
        let path = Step::path(*path)?;
        let Some((last, before)) = path.split_last() else {
            return Err(SqlProblem::new(
                3153,
                "The path expression '$' is not allowed in this context.",
            ));
        };
        let mut json = Some(&mut document);
        for step in before {
            json = json.and_then(|json| match (step, json) {
                (Step::Key(key), Json::Object(parts)) => parts.get_mut(key),
                (Step::Place(place), Json::Array(parts)) => parts.get_mut(*place),
                _ => None,
            });
        }
        match (last, json) {
            (Step::Key(key), Some(Json::Object(parts))) => drop(parts.remove(key)),
            (Step::Place(place), Some(Json::Array(parts))) if *place < parts.len() => {
                drop(parts.remove(*place))
            }
            (Step::Last, Some(Json::Array(parts))) => drop(parts.pop()),
            _ => {}
        }
    }
    told(&document)
}

fn contains(whole: &Json, wanted: &Json) -> bool {
    match (whole, wanted) {
        (Json::Array(parts), Json::Array(all)) => all
            .iter()
            .all(|one| parts.iter().any(|part| contains(part, one))),
        (Json::Array(parts), one) => parts.iter().any(|part| contains(part, one)),
        (Json::Object(parts), Json::Object(all)) => all
            .iter()
            .all(|(key, one)| parts.get(key).is_some_and(|part| contains(part, one))),
        (one, other) => one == other,
    }
}
