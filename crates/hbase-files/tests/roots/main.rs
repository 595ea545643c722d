//! Root directories of HBase: sound, damaged, with broken links, and hostile.

mod broken_links;
mod damage;
mod damaged_snapshots;
mod damaged_tables;
mod hbase_root;
mod hostile;
mod meta_rules;
mod missing_files;
mod parts_not_needed;
mod refused;
mod refusing;
mod replaced_regions;
mod snapshots;
mod verify_mob;
