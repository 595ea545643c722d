package hbasejudge;

import com.google.gson.JsonObject;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.ChunkCreator;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.MemStoreLAB;
import org.apache.hadoop.hbase.regionserver.RegionScanner;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALFactory;

/** Speed of a real HRegion: filling, gets of present and absent rows, and scans. */
final class RegionBench {
  private RegionBench() {}

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] QUALIFIER = new byte[0];
  private static final int VALUE_LEN = 100;

  static JsonObject bench(Args a) throws Exception {
    int files = a.num("files", 16);
    JsonObject o = new JsonObject();
    o.addProperty("ok", false);
    File root = Env.tmpDir("region-bench");
    WALFactory wf = null;
    HRegion region = null;
    try {
      Configuration conf = Env.conf();
      conf.set("hbase.rootdir", root.toURI().toString());
      conf.set("hbase.wal.provider", "filesystem");
      conf.setFloat("hfile.block.cache.size", 0.4f);
      conf.setBoolean("hbase.regionserver.hlog.enabled", true);
      Path rootDir = new Path(root.toURI());
      CommonFSUtils.setRootDir(conf, rootDir);
      TableDescriptor td = TableDescriptorBuilder.newBuilder(TableName.valueOf("bench"))
        .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setBloomFilterType(BloomType.ROW)
          .setBlocksize(a.num("block-size", 65536))
          .setDataBlockEncoding(DataBlockEncoding.valueOf(a.get("encoding", "NONE")))
          .setCompressionType(Compression.Algorithm.valueOf(a.get("compression", "LZ4"))).build())
        .setDurability(Durability.ASYNC_WAL).build();
      RegionInfo ri = RegionInfoBuilder.newBuilder(td.getTableName()).build();
      wf = new WALFactory(conf, "bench-" + System.nanoTime());
      WAL wal = wf.getWAL(ri);
      ChunkCreator.initialize(MemStoreLAB.CHUNK_SIZE_DEFAULT, false, 0, 0, 0, null, MemStoreLAB.INDEX_CHUNK_SIZE_PERCENTAGE_DEFAULT);
      region = HRegion.createHRegion(ri, rootDir, conf, td, wal, false);
      region.setBlockCache(BlockCacheFactory.createBlockCache(conf));
      region.initialize();

      List<byte[]> present = rows(a.get("present", null)), absent = rows(a.get("absent", null));
      TreeMap<byte[], byte[]> values = new TreeMap<>(Bytes.BYTES_COMPARATOR);
      for (byte[] row : present) values.put(row, null);
      long cells = fill(region, a.get("rows", null), files, values, o);
      HStore store = region.getStore(FAMILY);
      o.addProperty("cells", cells);
      o.addProperty("files", store.getStorefilesCount());
      o.addProperty("bytes", store.getStorefilesSize());
      if (store.getStorefilesCount() != files) throw new IllegalStateException("not as many files as were asked for");

      // Checks every value once, before the timing.
      for (byte[] row : present) {
        Result r = region.get(get(row));
        if (r.size() != 1 || !Arrays.equals(r.value(), values.get(row))) throw new IllegalStateException("another value at " + Cells.hex(row));
      }
      scan(region, cells);
      samples(o, "present", region, a, r -> ask(r, present, true));
      samples(o, "absent", region, a, r -> ask(r, absent, false));
      samples(o, "scan", region, a, r -> scan(r, cells));
      o.addProperty("ok", true);
    } finally {
      if (region != null) region.close(true);
      if (wf != null) wf.close();
      Env.delete(root);
    }
    return o;
  }

  private interface Work {
    long run(HRegion region) throws Exception;
  }

  /** Puts the rows of the file one by one, in order, with one flush per wanted file. */
  private static long fill(HRegion region, String path, int files, TreeMap<byte[], byte[]> values, JsonObject o) throws Exception {
    List<byte[]> rows = new ArrayList<>(), cells = new ArrayList<>();
    try (DataInputStream in = new DataInputStream(new BufferedInputStream(new FileInputStream(path), 1 << 20))) {
      for (int len; (len = in.read()) >= 0;) {
        byte[] row = new byte[len], value = new byte[VALUE_LEN];
        in.readFully(row);
        in.readFully(value);
        rows.add(row);
        cells.add(value);
        if (values.containsKey(row)) values.put(row, value);
      }
    }
    double[] wall = new double[files], cpu = new double[files];
    for (int file = 0; file < files; file++) {
      int first = (int) ((long) rows.size() * file / files), end = (int) ((long) rows.size() * (file + 1) / files);
      long c = cpu(), t = System.nanoTime();
      for (int i = first; i < end; i++) region.put(new Put(rows.get(i)).addColumn(FAMILY, QUALIFIER, cells.get(i)));
      region.flush(true);
      wall[file] = (System.nanoTime() - t) / (double) (end - first);
      cpu[file] = (cpu() - c) / (double) (end - first);
    }
    add(o, "fill", wall, cpu);
    return rows.size();
  }

  private static void samples(JsonObject o, String name, HRegion region, Args a, Work work) throws Exception {
    int rounds = a.num("rounds", 7), warmups = a.num("warmups", 4);
    for (int i = 0; i < warmups; i++) work.run(region); // for the compiler
    double[] wall = new double[rounds], cpu = new double[rounds];
    for (int i = 0; i < rounds; i++) {
      long c = cpu(), t = System.nanoTime();
      long pieces = work.run(region);
      wall[i] = (System.nanoTime() - t) / (double) pieces;
      cpu[i] = (cpu() - c) / (double) pieces;
    }
    add(o, name, wall, cpu);
  }

  private static void add(JsonObject o, String name, double[] wall, double[] cpu) {
    JsonObject s = new JsonObject();
    s.add("wall", Judge.GSON.toJsonTree(wall));
    s.add("cpu", Judge.GSON.toJsonTree(cpu));
    o.add(name, s);
  }

  /** Processor time of all threads of the JVM in nanoseconds, with collector and compiler. */
  private static long cpu() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
  }

  private static Get get(byte[] row) {
    return new Get(row).addColumn(FAMILY, QUALIFIER);
  }

  private static long ask(HRegion region, List<byte[]> rows, boolean there) throws IOException {
    for (byte[] row : rows) if (region.get(get(row)).isEmpty() == there) throw new IllegalStateException("another answer at " + Cells.hex(row));
    return rows.size();
  }

  private static long scan(HRegion region, long expected) throws IOException {
    long cells = 0, bytes = 0;
    try (RegionScanner s = region.getScanner(new Scan().addFamily(FAMILY))) {
      List<Cell> row = new ArrayList<>();
      boolean more;
      do {
        row.clear();
        more = s.next(row);
        for (Cell c : row) {
          cells++;
          bytes += c.getValueLength();
        }
      } while (more);
    }
    if (cells != expected || bytes != expected * VALUE_LEN) throw new IllegalStateException("a scan returned " + cells + " cells, want " + expected);
    return cells;
  }

  private static List<byte[]> rows(String path) throws Exception {
    List<byte[]> rows = new ArrayList<>();
    for (byte[][] key : Cells.readKeys(path)) rows.add(key[0]);
    return rows;
  }
}
