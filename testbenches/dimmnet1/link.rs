//! `dimmnet1_link`: crossings to the link's clock.
