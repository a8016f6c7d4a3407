//! Lines of communication of the NAS kernels: all lines of the files that only one version has, but those that are
//! blank, comment, or brace alone. The paper (sec. 6.3) gives counts and no rule.

/// A kernel's files for RDMA and for PVM.
pub struct Files {
    pub kernel: &'static str,
    pub rdma: &'static [&'static str],
    pub pvm: &'static [&'static str],
}

macro_rules! source {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/c/cppacs/nas/", $name))
    };
}

pub const KERNELS: [Files; 4] = [
    Files {
        kernel: "EP",
        rdma: &[source!("sum_rdma.c")],
        pvm: &[source!("sum_pvm.c")],
    },
    Files {
        kernel: "CG",
        rdma: &[source!("cg_rdma.c")],
        pvm: &[source!("cg_pvm.c")],
    },
    Files {
        kernel: "FT",
        rdma: &[source!("ft_rdma.c"), source!("sum_rdma.c")],
        pvm: &[source!("ft_pvm.c"), source!("sum_pvm.c")],
    },
    Files {
        kernel: "MG",
        rdma: &[source!("mg_rdma.c")],
        pvm: &[source!("mg_pvm.c")],
    },
];

/// The lines of these files that count.
pub fn count(files: &[&str]) -> usize {
    let mut comment = false;
    let counts = |line: &&str| {
        let line = line.trim();
        let begins = line.starts_with("/*");
        let within = comment || begins;
        comment = within && !line.ends_with("*/");
        !within && !line.is_empty() && !line.chars().all(|c| "{};".contains(c))
    };
    files.iter().flat_map(|file| file.lines()).filter(counts).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_braces_and_blanks_do_not_count() {
        assert_eq!(
            count(&["/* one\n * two */\nint a;\n\n{\n    b(); /* why */\n};\n}\n"]),
            2
        );
    }

    #[test]
    fn pvm_takes_fewer_lines() {
        for files in &KERNELS {
            let (rdma, pvm) = (count(files.rdma), count(files.pvm));
            println!("{}: RDMA {rdma}, PVM {pvm}", files.kernel);
            assert!(pvm < rdma, "{}: RDMA {rdma}, PVM {pvm}", files.kernel);
        }
    }
}
