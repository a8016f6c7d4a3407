//! Names of values, and what a wrong name may have meant.

/// Names for the values of a signal.
#[derive(Debug, PartialEq, Eq)]
pub struct Names {
    /// One word, unique among all machines.
    pub name: &'static str,
    /// Each value with its name, one word.
    pub values: &'static [(u64, &'static str)],
}

/// The name that looks most like `name`, if one is at most two letters from it.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |known: &&str| strsim::damerau_levenshtein(name, known);
    known
        .into_iter()
        .min_by_key(distance)
        .filter(|known| distance(known) <= 2 && distance(known) < name.chars().count())
}

/// What an error says behind an unknown name: the one that was meant, or all.
pub fn propose(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("known: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_nearly_right_is_proposed_and_no_other() {
        const KNOWN: [&str; 3] = ["r_thresh", "queue_headers", "p"];
        for name in ["r_tresh", "rthresh", "r_thrseh", "r-thresh", "R_thresh"] {
            assert_eq!(propose(name, &KNOWN), "did you mean `r_thresh`?", "{name}");
        }
        for name in ["thresholds", "q", "", "x"] {
            assert_eq!(propose(name, &KNOWN), "known: r_thresh, queue_headers, p", "{name}");
        }
    }
}
