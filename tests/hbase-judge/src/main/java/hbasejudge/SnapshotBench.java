package hbasejudge;

import com.google.gson.JsonObject;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.client.TableSnapshotScanner;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;

/** Speed of HBase's offline reader over a snapshot of several regions and files. */
final class SnapshotBench {
  private SnapshotBench() {}

  private static final byte[] FAMILY = Bytes.toBytes("f"), QUALIFIER = Bytes.toBytes("q");
  private static final String NAME = "bench";
  private static final int VALUE_LEN = 100;
  private static final long TIMESTAMP = 1_700_000_000_000L;

  /** Writes a root directory with the snapshot `bench`: each region has files whose rows interleave. */
  static JsonObject make(Args a) throws Exception {
    int cells = a.num("cells", 2_000_000), regions = a.num("regions", 4), files = a.num("files", 3);
    File root = new File(a.need(0, "OUT")).getAbsoluteFile();
    if (root.exists() || !root.mkdirs()) throw new IllegalArgumentException("cannot make " + root);
    long begin = System.nanoTime();
    Cluster.start("local", root, Map.of("hbase.hstore.compaction.min", "1000", "hbase.hregion.memstore.flush.size", "1000000000",
      "hbase.hregion.memstore.mslab.enabled", "false"));
    TableName table = TableName.valueOf(NAME);
    try (Admin admin = Cluster.connection().getAdmin()) {
      byte[][] splits = new byte[regions - 1][];
      for (int i = 1; i < regions; i++) splits[i - 1] = row((int) ((long) cells * i / regions));
      var td = TableDescriptorBuilder.newBuilder(table).setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(FAMILY)
        .setDataBlockEncoding(DataBlockEncoding.valueOf(a.get("encoding", "NONE")))
        .setCompressionType(Compression.Algorithm.valueOf(a.get("compression", "NONE"))).build()).build();
      if (regions > 1) admin.createTable(td, splits);
      else admin.createTable(td);
      Random random = new Random(a.lng("seed", 1));
      for (int file = 0; file < files; file++) {
        for (var region : Cluster.server().getRegions(table)) fill((HRegion) region, cells, file, files, random);
      }
      admin.snapshot(NAME, table);
    }
    JsonObject o = new JsonObject();
    o.addProperty("ok", true);
    o.addProperty("cells", cells);
    o.addProperty("regions", regions);
    o.addProperty("filesPerRegion", files);
    o.addProperty("ms", (System.nanoTime() - begin) / 1_000_000);
    return o;
  }

  private static byte[] row(int number) {
    return Bytes.toBytes(String.format("user%012d", number));
  }

  private static void fill(HRegion region, int cells, int file, int files, Random random) throws Exception {
    List<Put> batch = new ArrayList<>();
    for (int i = file; i < cells; i += files) {
      byte[] row = row(i);
      if (!region.getRegionInfo().containsRow(row)) continue;
      byte[] value = new byte[VALUE_LEN], noise = new byte[VALUE_LEN / 2]; // one half can be compressed
      random.nextBytes(noise);
      System.arraycopy(noise, 0, value, 0, noise.length);
      batch.add(new Put(row).addColumn(FAMILY, QUALIFIER, TIMESTAMP, value).setDurability(Durability.SKIP_WAL));
      if (batch.size() == 1000) {
        region.batchMutate(batch.toArray(new Put[0]));
        batch.clear();
      }
    }
    if (!batch.isEmpty()) region.batchMutate(batch.toArray(new Put[0]));
    region.flush(true);
  }

  /** Times whole passes of TableSnapshotScanner over a snapshot; the later half of them counts. */
  static JsonObject scan(Args a) throws Exception {
    Path root = new Path(new File(a.need(0, "ROOT")).getAbsoluteFile().toURI());
    String snapshot = a.need(1, "SNAPSHOT");
    Configuration conf = Env.conf();
    CommonFSUtils.setRootDir(conf, root);
    int passes = a.num("passes", 10);
    double best = Double.MAX_VALUE, first = 0;
    long[] counts = null;
    for (int i = 0; i < passes; i++) {
      long t = System.nanoTime();
      long[] found = pass(conf, snapshot);
      double seconds = (System.nanoTime() - t) / 1e9;
      if (counts != null && counts[0] != found[0]) throw new IllegalStateException("two passes returned " + counts[0] + " and " + found[0] + " cells");
      counts = found;
      if (i == 0) first = seconds;
      if (i >= passes / 2) best = Math.min(best, seconds);
    }
    JsonObject o = new JsonObject();
    o.addProperty("ok", true);
    o.addProperty("cells", counts[0]);
    o.addProperty("valueBytes", counts[1]);
    o.addProperty("firstCellsPerSecond", counts[0] / first);
    o.addProperty("cellsPerSecond", counts[0] / best);
    return o;
  }

  private static long[] pass(Configuration conf, String snapshot) throws Exception {
    File place = Env.tmpDir("restore");
    long cells = 0, bytes = 0;
    try (TableSnapshotScanner scanner = new TableSnapshotScanner(conf, new Path(place.toURI()), snapshot, new Scan().setCacheBlocks(false))) {
      for (Result r; (r = scanner.next()) != null;) {
        for (Cell c : r.rawCells()) {
          cells++;
          bytes += c.getValueLength();
        }
      }
    } finally {
      Env.delete(place);
    }
    return new long[] { cells, bytes };
  }
}
