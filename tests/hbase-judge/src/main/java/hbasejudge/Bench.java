package hbasejudge;

import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.KeyValueUtil;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.io.Reference;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BloomFilterMetrics;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.JudgeStoreAccess;
import org.apache.hadoop.hbase.regionserver.StoreFileInfo;
import org.apache.hadoop.hbase.regionserver.StoreFileReader;
import org.apache.hadoop.hbase.regionserver.StoreFileScanner;

/** Speed of HBase's reader on one file: whole scans, and gets of present and absent rows. */
final class Bench {
  private Bench() {}

  /** A key with its Scan, which is made outside the timing. */
  private static final class Lookup {
    final Scan scan;
    final KeyValue seek;

    Lookup(byte[] row) {
      scan = new Scan(new Get(row));
      seek = KeyValueUtil.createFirstOnRow(row);
    }
  }

  static JsonObject bench(String file, Args a) throws Exception {
    int rounds = a.num("rounds", 9);
    JsonObject o = new JsonObject();
    o.addProperty("ok", true);
    HStoreFile scanned = open(file, false);
    try {
      double[] seconds = new double[rounds];
      long cells = 0;
      for (int i = -rounds; i < rounds; i++) { // the first half warms the compiler up
        long t = System.nanoTime();
        cells = scan(scanned);
        if (i >= 0) seconds[i] = (System.nanoTime() - t) / 1e9;
      }
      o.addProperty("cells", cells);
      o.addProperty("scanCellsPerSecond", cells / median(seconds));
    } finally {
      scanned.closeStoreFile(true);
    }
    HStoreFile asked = open(file, true);
    try {
      for (String kind : new String[] { "present", "absent" }) {
        List<Lookup> keys = new ArrayList<>();
        for (byte[][] k : Cells.readKeys(a.get(kind, null))) keys.add(new Lookup(k[0]));
        double[] seconds = new double[rounds];
        long found = 0;
        for (int i = -rounds; i < rounds; i++) {
          long t = System.nanoTime();
          found = look(asked, keys);
          if (i >= 0) seconds[i] = (System.nanoTime() - t) / 1e9;
        }
        o.addProperty(kind + "Found", found);
        o.addProperty(kind + "GetsPerSecond", keys.size() / median(seconds));
      }
    } finally {
      asked.closeStoreFile(true);
    }
    return o;
  }

  private static HStoreFile open(String file, boolean cached) throws Exception {
    Configuration conf = new Configuration(Env.conf());
    conf.setFloat("hfile.block.cache.size", 0.4f);
    StoreFileInfo info = new StoreFileInfo(conf, Env.fs(), Env.fs().getFileStatus(Env.path(file)), (Reference) null);
    CacheConfig cache = cached ? new CacheConfig(conf, BlockCacheFactory.createBlockCache(conf)) : new CacheConfig(conf);
    HStoreFile sf = new HStoreFile(info, BloomType.ROW, cache, new BloomFilterMetrics());
    sf.initReader();
    return sf;
  }

  private static long scan(HStoreFile sf) throws Exception {
    StoreFileScanner s = sf.getStreamScanner(false, false, false, Long.MAX_VALUE, 0, false);
    long cells = 0, bytes = 0;
    try {
      if (s.seek(KeyValueUtil.createFirstOnRow(HConstants.EMPTY_BYTE_ARRAY))) {
        for (Cell c = s.next(); c != null; c = s.next()) {
          cells++;
          bytes += c.getValueLength();
        }
      }
    } finally {
      s.close();
    }
    if (bytes < 0) throw new IllegalStateException("never, but the loop must not be optimised away");
    return cells;
  }

  private static long look(HStoreFile sf, List<Lookup> keys) throws Exception {
    StoreFileReader r = sf.getReader();
    StoreFileScanner s = sf.getPreadScanner(true, Long.MAX_VALUE, 0, false);
    long found = 0;
    try {
      for (Lookup k : keys) {
        if (!JudgeStoreAccess.passesBloomFilter(r, k.scan, null) || !s.seek(k.seek)) continue;
        Cell c = s.peek();
        if (c != null && CellUtil.matchingRows(c, k.seek)) found++;
      }
    } finally {
      s.close();
    }
    return found;
  }

  private static double median(double[] seconds) {
    Arrays.sort(seconds);
    return seconds[seconds.length / 2];
  }
}
