//! The statements that set semi-sync up, in the words of each product and version. Copied, never run by us.

use crate::model::server::{Product, Version};

/// Which end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Source,
    Replica,
}

pub fn sql(product: &Product, end: End) -> String {
    if product.is_mariadb() {
        return mariadb(product, end);
    }
    let new_words = product.is_mysql_from(8, 0, 26);
    let (word, thread) = match (end, new_words) {
        (End::Source, true) => ("source", ""),
        (End::Source, false) => ("master", ""),
        (End::Replica, true) => ("replica", "REPLICA"),
        (End::Replica, false) => ("slave", "SLAVE"),
    };
    let keep = if product.is_mysql_from(8, 0, 11) {
        "PERSIST"
    } else {
        "GLOBAL"
    };
    let install = format!("INSTALL PLUGIN rpl_semi_sync_{word} SONAME 'semisync_{word}.so';");
    match end {
        End::Source => format!(
            "{install}\nSET {keep} rpl_semi_sync_{word}_timeout = 1000;\nSET {keep} rpl_semi_sync_{word}_enabled = ON;"
        ),
        End::Replica => format!(
            "{install}\nSET {keep} rpl_semi_sync_{word}_enabled = ON;\nSTOP {thread} IO_THREAD;\nSTART {thread} IO_THREAD;"
        ),
    }
}

/// Part of the server since 10.3.3: nothing to install.
fn mariadb(product: &Product, end: End) -> String {
    let built_in = product.version >= Version::new(10, 3, 3);
    let (word, rest) = match end {
        End::Source => (
            "master",
            "SET GLOBAL rpl_semi_sync_master_timeout = 1000;\nSET GLOBAL rpl_semi_sync_master_enabled = ON;",
        ),
        End::Replica => (
            "slave",
            "SET GLOBAL rpl_semi_sync_slave_enabled = ON;\nSTOP SLAVE IO_THREAD;\nSTART SLAVE IO_THREAD;",
        ),
    };
    match built_in {
        true => rest.to_owned(),
        false => format!("INSTALL PLUGIN rpl_semi_sync_{word} SONAME 'semisync_{word}';\n{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a24_each_server_is_set_up_in_its_own_words() {
        let sql = |version, end| sql(&Product::from_text(version, ""), end);
        let source = sql("9.7.4", End::Source);
        assert!(
            source.starts_with("INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so';")
        );
        assert!(source.contains("rpl_semi_sync_source_timeout = 1000"));
        assert!(
            sql("5.7.29", End::Source).contains("SET GLOBAL rpl_semi_sync_master_enabled = ON")
        );
        assert!(sql("5.7.29", End::Replica).ends_with("START SLAVE IO_THREAD;"));
        assert!(!sql("10.11.19-MariaDB", End::Replica).contains("INSTALL"));
    }
}
