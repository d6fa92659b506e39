//! GTID sets of MySQL and positions of MariaDB: parsing, formatting and set algebra.
