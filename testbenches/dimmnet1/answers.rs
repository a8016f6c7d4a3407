//! `dimmnet1_answers`: answer queue.
