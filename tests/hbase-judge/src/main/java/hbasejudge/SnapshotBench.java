package hbasejudge;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.CRC32;
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

  /** Times passes of TableSnapshotScanner over a snapshot, without the copy of its manifest that each pass restores first. */
  static JsonObject scan(Args a) throws Exception {
    Path root = new Path(new File(a.need(0, "ROOT")).getAbsoluteFile().toURI());
    String snapshot = a.need(1, "SNAPSHOT");
    Configuration conf = Env.conf();
    CommonFSUtils.setRootDir(conf, root);
    JsonArray seconds = new JsonArray(), restoreSeconds = new JsonArray();
    Pass first = null;
    for (int i = 0; i < a.num("passes", 10); i++) {
      Pass pass = new Pass(conf, snapshot, false);
      if (first == null) first = pass;
      if (pass.cells != first.cells) throw new IllegalStateException("two passes returned " + first.cells + " and " + pass.cells + " cells");
      seconds.add(pass.seconds);
      restoreSeconds.add(pass.restoreSeconds);
    }
    JsonObject o = new JsonObject();
    o.addProperty("ok", true);
    if (first != null) {
      o.addProperty("cells", first.cells);
      o.addProperty("valueBytes", first.bytes);
    }
    o.add("seconds", seconds);
    o.add("restoreSeconds", restoreSeconds);
    if (a.has("checksum")) o.addProperty("crcSum", new Pass(conf, snapshot, true).crcSum);
    return o;
  }

  private static final class Pass {
    final double restoreSeconds, seconds;
    long cells, bytes, crcSum;

    Pass(Configuration conf, String snapshot, boolean checksum) throws Exception {
      File place = Env.tmpDir("restore");
      long begin = System.nanoTime();
      try (TableSnapshotScanner scanner = new TableSnapshotScanner(conf, new Path(place.toURI()), snapshot, new Scan().setCacheBlocks(false))) {
        long restored = System.nanoTime();
        CRC32 crc = new CRC32();
        for (Result r; (r = scanner.next()) != null;) {
          for (Cell c : r.rawCells()) {
            cells++;
            bytes += c.getValueLength();
            if (checksum) crcSum += Cluster.crc(crc, c);
          }
        }
        restoreSeconds = (restored - begin) / 1e9;
        seconds = (System.nanoTime() - restored) / 1e9;
      } finally {
        Env.delete(place);
      }
    }
  }
}
