//! GTID sets of MySQL and positions of MariaDB: parsing, formatting and set algebra.

#[derive(Clone, Debug, PartialEq)]
pub enum Gtids {}

impl Gtids {
    pub fn is_empty(&self) -> bool {
        true
    }
}
