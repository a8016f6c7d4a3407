//! Golden model of `dimmnet1_answers`: answer queue.
