//! Statements that have been made ready once, kept for the next time.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::compile::Plan;

/// What a plan depends on besides the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key<'a> {
    pub sql: &'a str,
    pub schema: Option<&'a str>,
    pub is_strict: bool,
    pub shifts_zones: bool,
}

/// Most statements of a program come again and again, most inserts only once: a plan is kept from the second time on.
#[derive(Debug, Default)]
pub struct Plans {
    kept: HashMap<u64, Kept>,
    seen: HashSet<u64>,
}

#[derive(Debug)]
struct Kept {
    sql: String,
    schema: Option<String>,
    plan: Arc<Plan>,
}

/// Plans and memory of plans; when full, it begins anew.
const KEPT: usize = 128;
const SEEN: usize = 1024;

impl Plans {
    pub fn find(&self, key: Key<'_>) -> Option<Arc<Plan>> {
        let kept = self.kept.get(&hash(key))?;
        let same = kept.sql == key.sql && kept.schema.as_deref() == key.schema;
        same.then(|| Arc::clone(&kept.plan))
    }

    pub fn keep(&mut self, key: Key<'_>, plan: &Arc<Plan>) {
        let hash = hash(key);
        if !self.seen.contains(&hash) {
            if self.seen.len() >= SEEN {
                self.seen.clear();
            }
            self.seen.insert(hash);
            return;
        }
        if self.kept.len() >= KEPT {
            self.kept.clear();
        }
        self.kept.insert(
            hash,
            Kept {
                sql: key.sql.to_owned(),
                schema: key.schema.map(str::to_owned),
                plan: Arc::clone(plan),
            },
        );
    }

    pub fn forget(&mut self) {
        self.kept.clear();
    }
}

fn hash(key: Key<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}
