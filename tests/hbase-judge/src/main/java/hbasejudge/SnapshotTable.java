package hbasejudge;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.ArrayBackedTag;
import org.apache.hadoop.hbase.CellComparatorImpl;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.Tag;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.FlushLifeCycleTracker;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.StoreFileInfo;
import org.apache.hadoop.hbase.regionserver.StoreFileWriter;
import org.apache.hadoop.hbase.regionserver.storefiletracker.StoreFileTrackerFactory;
import org.apache.hadoop.hbase.snapshot.SnapshotDescriptionUtils;
import org.apache.hadoop.hbase.snapshot.SnapshotManifest;
import org.apache.hadoop.hbase.tool.BulkLoadHFiles;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;

/** A table of a generated root directory, and what happens to it. All choices come from the seed. */
final class SnapshotTable {
  /** Timestamps are near one of these; a family's TTL ends between them, so that the day of the test does not matter. */
  private static final long OLD = 1_700_000_000_000L, TTL_END = 1_705_000_000_000L, NEW = 1_710_000_000_000L;
  private static final long CENTURY_MS = 3_153_600_000_000L;
  private static final byte[][] PIECES = { { 0 }, { 1 }, { ',' }, { 'a' }, { 0x7f }, { (byte) 0x80 }, { (byte) 0xff } };
  static final int MOB_THRESHOLD = 60;
  /** More than any generated file has. */
  private static final int ONE_BLOCK = 1 << 24;

  final TableName name;
  final boolean isMob, isTracked;
  private final Random random;
  /** Sorted, so that one of them can be the boundary of a region. */
  private final List<byte[]> rows;
  private final List<byte[]> qualifiers;
  private final int mutations;
  /** Names of the snapshots of this table. */
  final List<String> snapshots = new ArrayList<>();

  private SnapshotTable(TableName name, boolean isMob, boolean isTracked, Random random, List<byte[]> rows, List<byte[]> qualifiers, int mutations) {
    this.name = name;
    this.isMob = isMob;
    this.isTracked = isTracked;
    this.random = random;
    this.rows = rows;
    this.qualifiers = qualifiers;
    this.mutations = mutations;
  }

  static SnapshotTable create(Admin admin, TableName name, boolean isMob, boolean isTracked, Random random) throws Exception {
    TreeSet<byte[]> rows = new TreeSet<>(Bytes.BYTES_COMPARATOR);
    int count = 10 + random.nextInt(150);
    boolean isBinary = random.nextInt(3) == 0;
    while (rows.size() < count) {
      byte[] row = isBinary ? new byte[0] : Bytes.toBytes(String.format("row-%05d", random.nextInt(100_000)));
      if (isBinary) for (int i = 1 + random.nextInt(4); i > 0; i--) row = Bytes.add(row, PIECES[random.nextInt(PIECES.length)]);
      rows.add(row);
    }
    List<byte[]> qualifiers = new ArrayList<>(List.of(Bytes.toBytes("a"), Bytes.toBytes("bb"), Bytes.toBytes("ccc")));
    if (random.nextBoolean()) qualifiers.add(new byte[] { 0, (byte) 0xff });
    // Between versions of the empty qualifier there can be a DeleteFamily. StoreScanner.trySkipToNextColumn passes over it
    // if a data block ends after the column, and HBase shows what it deletes. With one block a file HBase obeys its rules.
    boolean hasEmpty = random.nextInt(5) == 0;
    if (hasEmpty) qualifiers.add(new byte[0]);
    SnapshotTable table = new SnapshotTable(name, isMob, isTracked, random, new ArrayList<>(rows), qualifiers, 20 + random.nextInt(120));
    TableDescriptorBuilder builder = TableDescriptorBuilder.newBuilder(name);
    int families = 1 + random.nextInt(3);
    for (int i = 0; i < families; i++) builder.setColumnFamily(table.family("f" + i, isMob && i == 0, hasEmpty));
    if (isTracked) builder.setValue(StoreFileTrackerFactory.TRACKER_IMPL, "FILE");
    TreeSet<byte[]> splits = new TreeSet<>(Bytes.BYTES_COMPARATOR);
    for (int i = random.nextInt(4); i > 0; i--) splits.add(table.rows.get(random.nextInt(count)));
    if (splits.isEmpty()) admin.createTable(builder.build());
    else admin.createTable(builder.build(), splits.toArray(new byte[0][]));
    return table;
  }

  /** The clone of a snapshot of this table, which has its rows and columns. */
  SnapshotTable cloned(TableName clone) {
    return new SnapshotTable(clone, isMob, isTracked, random, rows, qualifiers, mutations);
  }

  private ColumnFamilyDescriptor family(String family, boolean isMobFamily, boolean isOneBlock) {
    ColumnFamilyDescriptorBuilder b = ColumnFamilyDescriptorBuilder.newBuilder(Bytes.toBytes(family))
      .setMaxVersions(pick(1, 1, 2, 3, 5))
      .setKeepDeletedCells(pick(KeepDeletedCells.FALSE, KeepDeletedCells.FALSE, KeepDeletedCells.TRUE, KeepDeletedCells.TTL))
      .setDataBlockEncoding(pick(DataBlockEncoding.values()))
      .setCompressionType(pick(Compression.Algorithm.NONE, Compression.Algorithm.NONE, Compression.Algorithm.GZ, Compression.Algorithm.SNAPPY, Compression.Algorithm.LZ4))
      .setBloomFilterType(pick(BloomType.NONE, BloomType.ROW, BloomType.ROWCOL))
      .setBlocksize(pick(1024, 1024, 8192, 65536));
    if (isOneBlock) b.setBlocksize(ONE_BLOCK);
    if (random.nextInt(3) == 0) {
      b.setTimeToLive((int) ((System.currentTimeMillis() - TTL_END) / 1000));
      if (random.nextInt(3) == 0) b.setMinVersions(1);
    }
    if (isMobFamily) b.setMobEnabled(true).setMobThreshold(MOB_THRESHOLD);
    return b.build();
  }

  @SafeVarargs
  private <T> T pick(T... choices) {
    return choices[random.nextInt(choices.length)];
  }

  private byte[] row() {
    return rows.get(random.nextInt(rows.size()));
  }

  private long time() {
    return (random.nextBoolean() ? OLD : NEW) + random.nextInt(20) * 1000L;
  }

  private byte[] value() {
    byte[] value = new byte[random.nextInt(8) == 0 ? 0 : random.nextInt(random.nextInt(10) == 0 ? 400 : 50)];
    random.nextBytes(value);
    return value;
  }

  private byte[] family(TableDescriptor td) {
    byte[][] names = td.getColumnFamilyNames().toArray(new byte[0][]);
    return names[random.nextInt(names.length)];
  }

  /**
   * A cell, or null if the batch has one of the same key: all cells of a batch may get one sequence id, and then
   * HBase defines no winner.
   */
  private KeyValue cell(byte[] row, byte[] family, KeyValue.Type type, Set<String> keys) {
    boolean isWhole = type == KeyValue.Type.DeleteFamily || type == KeyValue.Type.DeleteFamilyVersion;
    byte[] qualifier = isWhole ? new byte[0] : qualifiers.get(random.nextInt(qualifiers.size()));
    boolean isPut = type == KeyValue.Type.Put;
    List<Tag> tags = new ArrayList<>();
    if (isPut && random.nextInt(10) == 0) tags.add(new ArrayBackedTag((byte) (65 + random.nextInt(3)), value()));
    long time = time();
    if (!keys.add(Cells.hex(row) + '/' + Cells.hex(family) + '/' + Cells.hex(qualifier) + '/' + time + '/' + type)) return null;
    return Cells.kv(row, family, qualifier, time, type, isPut ? value() : Cells.EMPTY, tags, 0);
  }

  /** Puts and deletes of every kind in one batch, and a few increments and appends. */
  void write() throws Exception {
    try (Table table = Cluster.connection().getTable(name)) {
      TableDescriptor td = table.getDescriptor();
      List<Row> batch = new ArrayList<>();
      Set<String> keys = new HashSet<>();
      for (int i = 0; i < mutations; i++) {
        byte[] row = row();
        if (random.nextInt(4) > 0) {
          Put put = new Put(row);
          for (int j = random.nextInt(4); j >= 0; j--) {
            KeyValue kv = cell(row, family(td), KeyValue.Type.Put, keys);
            if (kv != null) put.add(kv);
          }
          if (random.nextInt(20) == 0) put.setTTL(random.nextBoolean() ? CENTURY_MS : 1000);
          if (!put.isEmpty()) batch.add(put);
        } else {
          Delete delete = new Delete(row);
          KeyValue.Type type = pick(KeyValue.Type.Delete, KeyValue.Type.Delete, KeyValue.Type.DeleteColumn, KeyValue.Type.DeleteFamily, KeyValue.Type.DeleteFamilyVersion);
          KeyValue kv = cell(row, family(td), type, keys);
          if (kv != null) batch.add(delete.add(kv));
        }
      }
      table.batch(batch, new Object[batch.size()]);
      if (random.nextInt(3) > 0) return;
      for (int i = 0; i < 5; i++) {
        byte[] family = family(td);
        table.increment(new Increment(row()).addColumn(family, Bytes.toBytes("count"), random.nextInt(100)));
        table.append(new Append(row()).addColumn(family, Bytes.toBytes("log"), value()));
      }
    }
  }

  List<HRegion> regions() {
    return new ArrayList<>(Cluster.server().getRegions(name).stream().map(r -> (HRegion) r).toList());
  }

  /** All regions, or some, or one family of them. */
  void flush() throws Exception {
    int how = random.nextInt(4);
    for (HRegion region : regions()) {
      if (how == 0 && random.nextBoolean()) continue;
      if (how == 1) region.flushcache(List.of(family(region.getTableDescriptor())), false, FlushLifeCycleTracker.DUMMY);
      else region.flush(true);
    }
  }

  void flushAll() throws Exception {
    for (HRegion region : regions()) region.flush(true);
  }

  /** Compacts all files of each store; what was compacted stays beside the result, or goes to the archive. */
  String compact() throws Exception {
    boolean isArchived = random.nextInt(3) > 0;
    for (HRegion region : regions()) {
      region.compact(true);
      if (isArchived) for (HStore store : region.getStores()) store.closeAndArchiveCompactedFiles();
    }
    return isArchived ? "archived" : "not archived";
  }

  String split(Admin admin) throws Exception {
    List<RegionInfo> regions = admin.getRegions(name);
    Collections.shuffle(regions, random);
    for (RegionInfo region : regions) {
      List<byte[]> inside = rows.stream().filter(row -> region.containsRow(row) && !Bytes.equals(row, region.getStartKey())).toList();
      if (inside.isEmpty()) continue;
      if (regions().stream().anyMatch(r -> r.getRegionInfo().equals(region) && !r.isSplittable())) continue;
      byte[] at = inside.get(random.nextInt(inside.size()));
      admin.splitRegionAsync(region.getRegionName(), at).get(60, TimeUnit.SECONDS);
      return Cells.hex(at);
    }
    return "no region can be split";
  }

  String merge(Admin admin) throws Exception {
    List<RegionInfo> regions = admin.getRegions(name);
    if (regions.size() < 2) return "one region";
    regions.sort(RegionInfo.COMPARATOR);
    int first = random.nextInt(regions.size() - 1);
    int count = Math.min(regions.size() - first, 2 + random.nextInt(2));
    byte[][] names = regions.subList(first, first + count).stream().map(RegionInfo::getRegionName).toArray(byte[][]::new);
    admin.mergeRegionsAsync(names, false).get(60, TimeUnit.SECONDS);
    return count + " regions";
  }

  /** One file a family: files of one bulk load get one sequence id, so that equal keys in two would have no winner. */
  String bulkLoad() throws Exception {
    Configuration conf = Cluster.conf();
    File staging = Env.tmpDir("snapshot-bulk");
    int files = 0;
    try (Table table = Cluster.connection().getTable(name)) {
      for (ColumnFamilyDescriptor family : table.getDescriptor().getColumnFamilies()) {
        if (family.isMobEnabled()) continue;
        TreeSet<KeyValue> cells = new TreeSet<>(CellComparatorImpl.COMPARATOR);
        Set<String> keys = new HashSet<>();
        for (int i = 0; i < mutations; i++) {
          KeyValue kv = cell(row(), family.getName(), random.nextInt(8) == 0 ? pick(KeyValue.Type.Delete, KeyValue.Type.DeleteColumn, KeyValue.Type.DeleteFamily) : KeyValue.Type.Put, keys);
          if (kv != null) cells.add(kv);
        }
        StoreFileWriter writer = new StoreFileWriter.Builder(conf, new CacheConfig(conf), Env.fs())
          .withOutputDir(new Path(new File(staging, family.getNameAsString()).toURI()))
          .withBloomType(family.getBloomFilterType()).withMaxKeyCount(cells.size())
          .withFileContext(new HFileContextBuilder().withBlockSize(family.getBlocksize()).withCompression(family.getCompressionType())
            .withDataBlockEncoding(family.getDataBlockEncoding()).withIncludesTags(true).withColumnFamily(family.getName()).withTableName(name.getName()).build())
          .build();
        for (KeyValue kv : cells) writer.append(kv);
        writer.close();
        files++;
      }
      if (files > 0) BulkLoadHFiles.create(conf).bulkLoad(name, new Path(staging.toURI()));
    } finally {
      Env.delete(staging);
    }
    return files + " files";
  }

  /** Disables the table and makes it what a snapshot of it was. */
  String restore(Admin admin) throws Exception {
    // RestoreSnapshotHelper ignores the tracker of the table's descriptor and leaves its list of files as it was. The list
    // then has files that were moved to the archive, and the region does not open again, however often HBase tries.
    if (isTracked) return "not done: tracked";
    String snapshot = snapshots.get(random.nextInt(snapshots.size()));
    // A merged region may have references to files of its parents, which its snapshot does not list. RestoreSnapshotHelper
    // restores the references, but not these files if they were archived meanwhile. The region then does not open again.
    if (refersToOtherRegions(admin.getConfiguration(), snapshot)) return "not done: references to merged regions in " + snapshot;
    admin.disableTable(name);
    admin.restoreSnapshot(snapshot, false);
    admin.enableTable(name);
    return snapshot;
  }

  /** Whether a snapshot has references to files of regions that it does not list. */
  private static boolean refersToOtherRegions(Configuration conf, String snapshot) throws IOException {
    Path root = CommonFSUtils.getRootDir(conf), directory = SnapshotDescriptionUtils.getCompletedSnapshotDir(snapshot, root);
    FileSystem fs = root.getFileSystem(conf);
    SnapshotManifest manifest = SnapshotManifest.open(conf, fs, directory, SnapshotDescriptionUtils.readSnapshotInfo(fs, directory));
    Set<String> regions = manifest.getRegionManifestsMap().keySet();
    return manifest.getRegionManifestsMap().values().stream()
      .flatMap(region -> region.getFamilyFilesList().stream())
      .flatMap(family -> family.getStoreFilesList().stream())
      .filter(file -> StoreFileInfo.isReference(file.getName()))
      .anyMatch(file -> !regions.contains(StoreFileInfo.getReferredToRegionAndFile(file.getName()).getFirst()));
  }

  void delete(Admin admin) throws Exception {
    admin.disableTable(name);
    admin.deleteTable(name);
  }
}
