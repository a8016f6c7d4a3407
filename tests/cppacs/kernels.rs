//! Tables 3 to 6 on the timed model: the cells that the paper has, and what is said to be fitted.

use std::collections::BTreeMap;

use tsunagi::repro::row::{Kind, Row};

use crate::criteria;

/// Rows of these experiments by name.
fn rows(experiments: &[&str]) -> BTreeMap<&'static str, &'static Row> {
    let rows = criteria::rows().filter(|row| experiments.contains(&row.experiment));
    rows.map(|row| (row.row.as_str(), row)).collect()
}

#[test]
fn tables_say_what_was_fitted() {
    let rows = rows(&["T3", "T4", "T6"]);
    for row in rows.values() {
        println!("{} {:.4} {} {}", row.row, row.ours, row.kind_name(), row.verdict());
        assert!(row.ours.is_finite() && !row.is_missed(), "{}", row.row);
        // The tables are where computing was fitted.
        if row.paper.is_some() {
            assert_eq!(row.kind, Some(Kind::Calibrated), "{}", row.row);
        }
    }
    for nodes in [4, 8, 16] {
        let row = |name: &str| rows[format!("table4.{name}_{nodes}").as_str()];
        assert!(row("rdma").depends_on.contains(&"cg_peer"));
        assert!(row("pvm").depends_on.contains(&"copy_uncached"));
        assert!(!row("plain").depends_on.contains(&"cg_peer"));
        let gap = row("gap");
        let is_fitted = |name: &&str| ["cg_peer", "copy_uncached", "cg_compute"].contains(name);
        assert!(
            gap.paper.is_none() && !gap.depends_on.iter().any(is_fitted),
            "{}",
            gap.row
        );
        assert_eq!(gap.kind, Some(Kind::Own));
        assert!(row("gap_fitted").ours > gap.ours);
        let difference = row("rdma").difference().expect("the paper's");
        assert!(difference.abs() < 3.0, "CG by RDMA on {nodes}: {difference} %");
    }
    assert_eq!(rows["table4.ratio_rises"].pass, Some(true));
    // The paper's cell is empty, and so it stays.
    assert!(rows.contains_key("table6.pvm_16") && !rows.contains_key("table6.rdma_16"));
}

#[test]
fn lines_and_areas_are_counted() {
    let rows = rows(&["L", "A"]);
    let ours = |row: &str| rows[row].ours;
    // The paper's programs are not ours.
    for (row, lines) in [
        ("cg_rdma", 219.0),
        ("cg_pvm", 32.0),
        ("ft_rdma", 97.0),
        ("ft_pvm", 34.0),
    ] {
        let row = rows[format!("sec6.3.{row}").as_str()];
        assert_eq!((row.expected, row.kind), (Some(lines), Some(Kind::Own)));
    }
    for kernel in ["ep", "cg", "ft", "mg"] {
        assert!(ours(&format!("sec6.3.{kernel}_fewer")) < 1.0);
    }
    // 64 MB do not suffice for 1,024 tasks, and FT by RDMA does not fit on 8 nodes.
    assert!(ours("areas.pvm_1024") > 64.0 && ours("areas.pvm_most") < 1024.0);
    assert!(ours("areas.ft_fewest") > 8.0, "{}", ours("areas.ft_fewest"));
}
