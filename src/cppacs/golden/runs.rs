//! From a stride to runs: bytes of a transfer that are contiguous in memory.

/// Elements that lie the same distance apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stride {
    /// Bytes of an element.
    pub element: u32,
    /// What is left of the first one.
    pub left: u32,
    /// From the start of an element to that of the next.
    pub step: u32,
}

/// Bytes that are contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub offset: u32,
    pub bytes: u32,
    /// No run follows.
    pub last: bool,
    /// What is left of its element behind it; 0 without a stride.
    pub left: u32,
}

/// A run that leaves its place. It ends the job; nothing of it is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bad;

/// The runs of a job; see [`runs`].
#[derive(Clone, Debug)]
pub struct Runs {
    /// The next run's begin. A sum beyond 32 bits, or below 0, is no place.
    at: i64,
    limit: u32,
    /// Bytes still to come.
    bytes: u32,
    stride: Option<Stride>,
}

/// Cuts `bytes` at `offset` of a place of `limit` bytes: contiguous, or `left` bytes of the first element, then an
/// element at each step until all are out. The last run may be shorter than its element.
pub fn runs(offset: u32, bytes: u32, stride: Option<Stride>, limit: u32) -> Runs {
    Runs {
        at: offset.into(),
        limit,
        bytes,
        stride,
    }
}

impl Iterator for Runs {
    type Item = Result<Run, Bad>;

    fn next(&mut self) -> Option<Result<Run, Bad>> {
        if self.bytes == 0 {
            return None;
        }
        let of_element = self.stride.map_or(self.bytes, |stride| stride.left);
        let bytes = of_element.min(self.bytes);
        let is_inside = self.at >= 0 && self.at + i64::from(bytes) <= self.limit.into();
        if !is_inside {
            self.bytes = 0;
            return Some(Err(Bad));
        }
        self.bytes -= bytes;
        let run = Run {
            offset: self.at as u32,
            bytes,
            last: self.bytes == 0,
            left: of_element - bytes,
        };
        if let Some(stride) = &mut self.stride {
            self.at += i64::from(stride.left) - i64::from(stride.element) + i64::from(stride.step);
            stride.left = stride.element;
        }
        Some(Ok(run))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(offset: u32, bytes: u32, stride: Option<Stride>, limit: u32) -> Vec<Result<(u32, u32, u32), Bad>> {
        let runs: Vec<_> = runs(offset, bytes, stride, limit).collect();
        let lasts: Vec<bool> = runs.iter().flatten().map(|run| run.last).collect();
        let is_whole = runs.iter().all(Result::is_ok);
        assert!(lasts.iter().rev().skip(1).all(|last| !last));
        assert_eq!(lasts.last().copied().unwrap_or(false), is_whole);
        runs.into_iter()
            .map(|run| run.map(|r| (r.offset, r.bytes, r.left)))
            .collect()
    }

    #[test]
    fn contiguous_is_one_run() {
        assert_eq!(all(8, 64, None, 72), [Ok((8, 64, 0))]);
        assert_eq!(all(8, 64, None, 71), [Err(Bad)]);
        assert_eq!(all(u32::MAX - 7, 64, None, u32::MAX), [Err(Bad)]);
    }

    #[test]
    fn elements_follow_at_each_step() {
        let stride = |element, left, step| Some(Stride { element, left, step });
        assert_eq!(
            all(0, 40, stride(16, 16, 64), 1000),
            [Ok((0, 16, 0)), Ok((64, 16, 0)), Ok((128, 8, 8))]
        );
        // The step counts from the element's start, 8 bytes before the first byte.
        assert_eq!(
            all(8, 32, stride(16, 8, 64), 1000),
            [Ok((8, 8, 0)), Ok((64, 16, 0)), Ok((128, 8, 8))]
        );
        assert_eq!(all(0, 24, stride(8, 8, 0), 8), [Ok((0, 8, 0)); 3]);
    }

    #[test]
    fn what_leaves_the_place_is_bad_and_the_last() {
        let stride = |left, step| {
            Some(Stride {
                element: 16,
                left,
                step,
            })
        };
        assert_eq!(
            all(0, 48, stride(16, 64), 80),
            [Ok((0, 16, 0)), Ok((64, 16, 0)), Err(Bad)]
        );
        assert_eq!(
            all(64, 32, stride(16, u32::MAX - 7), u32::MAX),
            [Ok((64, 16, 0)), Err(Bad)]
        );
        // An element that began before the place.
        assert_eq!(all(0, 32, stride(8, 0), 64), [Ok((0, 8, 0)), Err(Bad)]);
        assert_eq!(
            all(0, 32, stride(8, 8), 64),
            [Ok((0, 8, 0)), Ok((0, 16, 0)), Ok((8, 8, 8))]
        );
    }
}
