package hbasejudge;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.File;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.CheckAndMutateResult;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.TimeRange;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.RegionScanner;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hbase.util.EnvironmentEdge;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.hadoop.hbase.util.Pair;
import org.apache.hadoop.hbase.wal.WALFactory;

/** Runs histories of one family in a real HRegion with a memstore, and records its answers. */
final class History {
  private static final byte[] FAMILY = Bytes.toBytes("f");

  private History() {}

  /** Runs each line of a file as a history. Its answers are a line of --out: an array of arrays of cells. */
  static JsonObject histories(Args a) throws Exception {
    JsonObject o = new JsonObject();
    int n = 0;
    AtomicLong now = new AtomicLong();
    EnvironmentEdgeManager.injectEdge(new EnvironmentEdge() {
      @Override
      public long currentTime() {
        return now.get();
      }
    });
    File root = Env.tmpDir("history");
    Configuration conf = Env.conf();
    conf.set("hbase.rootdir", root.toURI().toString());
    conf.setBoolean("hbase.regionserver.hlog.enabled", false);
    conf.setBoolean("hbase.hregion.memstore.mslab.enabled", false);
    conf.setBoolean("hbase.hstore.bulkload.verify", true);
    conf.setInt("hbase.hstore.compaction.max", 1000); // so that a major compaction takes all files
    Path rootDir = new Path(root.toURI());
    CommonFSUtils.setRootDir(conf, rootDir);
    WALFactory wf = new WALFactory(conf, "judge-history-" + System.nanoTime());
    try (BufferedReader r = Cells.open(a.need(0, "FILE")); Cells.Out out = new Cells.Out(a.get("out", null))) {
      for (String s; (s = r.readLine()) != null;) {
        if (s.isBlank()) continue;
        n++;
        JsonObject h = JsonParser.parseString(s).getAsJsonObject();
        JsonArray answers = play(h, n, now, rootDir, conf, wf, root);
        out.line(Judge.GSON.toJson(answers));
      }
    } finally {
      wf.close();
      EnvironmentEdgeManager.reset();
      Env.delete(root);
    }
    o.addProperty("ok", true);
    o.addProperty("histories", n);
    return o;
  }

  private static JsonArray play(JsonObject h, int n, AtomicLong now, Path rootDir, Configuration conf, WALFactory wf,
    File root) throws Exception {
    JsonObject f = h.getAsJsonObject("family");
    now.set(h.get("now").getAsLong());
    TableDescriptor td = TableDescriptorBuilder.newBuilder(TableName.valueOf("history" + n))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(FAMILY)
        .setMaxVersions(f.get("versions").getAsInt()).setMinVersions(f.get("minVersions").getAsInt())
        .setTimeToLive(f.has("ttl") ? f.get("ttl").getAsInt() : HConstants.FOREVER)
        .setKeepDeletedCells(KeepDeletedCells.valueOf(f.get("keepDeletedCells").getAsString()))
        .setBloomFilterType(BloomType.valueOf(f.get("bloom").getAsString())).build())
      .build();
    RegionInfo ri = RegionInfoBuilder.newBuilder(td.getTableName()).build();
    HRegion region = HRegion.createHRegion(ri, rootDir, conf, td, wf.getWAL(ri), true);
    JsonArray answers = new JsonArray();
    try {
      for (JsonElement e : h.getAsJsonArray("steps")) {
        JsonObject step = e.getAsJsonObject();
        String verb = step.keySet().iterator().next();
        JsonArray answer = step(region, verb, step.get(verb), now, root);
        if (answer != null) answers.add(answer);
      }
      if (h.has("compacted")) {
        region.getStore(FAMILY).getStorefiles().forEach(sf -> copy(sf.getPath(), h.get("compacted").getAsString()));
      }
    } finally {
      region.close(true);
    }
    return answers;
  }

  /** Returns the answer of a step, or null if it is not a read. */
  private static JsonArray step(HRegion region, String verb, JsonElement what, AtomicLong now, File root) throws Exception {
    switch (verb) {
      case "write": {
        List<Mutation> all = new ArrayList<>();
        for (JsonElement c : what.getAsJsonArray()) {
          KeyValue kv = Cells.parse(c.toString()).kv;
          byte[] row = org.apache.hadoop.hbase.CellUtil.cloneRow(kv);
          if (kv.getTypeByte() == KeyValue.Type.Put.getCode()) all.add(new Put(row).add(kv));
          else all.add(new Delete(row).add(kv));
        }
        region.batchMutate(all.toArray(new Mutation[0]));
        return null;
      }
      case "load": {
        File staging = new File(root, "staging-" + System.nanoTime());
        staging.mkdirs();
        File file = new File(staging, "00000000000000000000000000000001");
        Files.copy(new File(what.getAsString()).toPath(), file.toPath());
        List<Pair<byte[], String>> one = new ArrayList<>();
        one.add(new Pair<>(FAMILY, file.toURI().toString()));
        if (region.bulkLoadHFiles(one, true, null) == null) throw new IllegalStateException("bulk load was refused");
        return null;
      }
      case "flush":
        region.flush(true);
        return null;
      case "compact":
        region.compact(true);
        return null;
      case "later":
        now.addAndGet(what.getAsLong());
        return null;
      case "scan":
        return inTime(() -> scan(region, what.getAsJsonObject()));
      case "get":
        return inTime(() -> get(region, what.getAsJsonObject()));
      case "increment": {
        JsonObject q = what.getAsJsonObject();
        Increment it = new Increment(bytes(q, "row")).addColumn(FAMILY, bytes(q, "qualifier"), q.get("amount").getAsLong());
        try {
          return result(region.increment(it));
        } catch (org.apache.hadoop.hbase.DoNotRetryIOException notALong) {
          return words("refused");
        }
      }
      case "append": {
        JsonObject q = what.getAsJsonObject();
        return result(region.append(new Append(bytes(q, "row")).addColumn(FAMILY, bytes(q, "qualifier"), bytes(q, "value"))));
      }
      case "check":
        return check(region, what.getAsJsonObject());
      default:
        throw new IllegalArgumentException("unknown step " + verb);
    }
  }

  interface Question {
    JsonArray ask() throws Exception;
  }

  /** Some reads of HBase never end. After ten seconds the answer is "endless". */
  @SuppressWarnings({"deprecation", "removal"})
  private static JsonArray inTime(Question question) throws Exception {
    JsonArray[] answer = new JsonArray[1];
    Throwable[] failure = new Throwable[1];
    Thread asker = new Thread(() -> {
      try {
        answer[0] = question.ask();
      } catch (ThreadDeath given) {
        // the read continues in its thread and is ignored
      } catch (Throwable t) {
        failure[0] = t;
      }
    });
    asker.setDaemon(true);
    asker.start();
    asker.join(10_000);
    if (asker.isAlive()) {
      asker.stop();
      asker.join();
      return words("endless");
    }
    if (failure[0] != null) throw new IllegalStateException(failure[0]);
    return answer[0];
  }

  private static JsonArray scan(HRegion region, JsonObject q) throws Exception {
    Scan scan = new Scan().addFamily(FAMILY).readVersions(q.get("versions").getAsInt());
    if (q.has("min")) scan.setTimeRange(q.get("min").getAsLong(), q.get("max").getAsLong());
    if (q.has("raw")) scan.setRaw(true);
    if (q.has("reverse")) scan.setReversed(true);
    if (q.has("start")) scan.withStartRow(bytes(q, "start"));
    if (q.has("stop")) scan.withStopRow(bytes(q, "stop"));
    if (q.has("cellsPerRow")) scan.setMaxResultsPerColumnFamily(q.get("cellsPerRow").getAsInt());
    if (q.has("columns")) for (JsonElement c : q.getAsJsonArray("columns")) scan.addColumn(FAMILY, Cells.unhex(c.getAsString()));
    JsonArray answer = new JsonArray();
    try (RegionScanner rs = region.getScanner(scan)) {
      List<Cell> l = new ArrayList<>();
      boolean more;
      do {
        l.clear();
        more = rs.next(l);
        for (Cell c : l) answer.add(JsonParser.parseString(Cells.toJson(c, false, true)));
      } while (more);
    }
    return answer;
  }

  private static JsonArray get(HRegion region, JsonObject q) throws Exception {
    Get get = new Get(bytes(q, "row")).addFamily(FAMILY).readVersions(q.get("versions").getAsInt());
    if (q.has("min")) get.setTimeRange(q.get("min").getAsLong(), q.get("max").getAsLong());
    if (q.has("columns")) for (JsonElement c : q.getAsJsonArray("columns")) get.addColumn(FAMILY, Cells.unhex(c.getAsString()));
    return result(region.get(get));
  }

  private static JsonArray check(HRegion region, JsonObject q) throws Exception {
    byte[] row = bytes(q, "row"), qualifier = bytes(q, "qualifier");
    CheckAndMutate.Builder b = CheckAndMutate.newBuilder(row);
    if (q.has("operator")) b.ifMatches(FAMILY, qualifier, CompareOperator.valueOf(q.get("operator").getAsString()), bytes(q, "value"));
    else b.ifNotExists(FAMILY, qualifier);
    if (q.has("min")) b.timeRange(TimeRange.between(q.get("min").getAsLong(), q.get("max").getAsLong()));
    CheckAndMutateResult result = region.checkAndMutate(b.build(new Put(row).addColumn(FAMILY, bytes(q, "target"), bytes(q, "put"))));
    JsonArray answer = new JsonArray();
    answer.add(result.isSuccess());
    return answer;
  }

  private static JsonArray result(Result result) {
    JsonArray answer = new JsonArray();
    if (result == null || result.isEmpty()) return answer;
    for (Cell c : result.rawCells()) answer.add(JsonParser.parseString(Cells.toJson(c, false, true)));
    return answer;
  }

  private static JsonArray words(String word) {
    JsonArray answer = new JsonArray();
    answer.add(word);
    return answer;
  }

  private static byte[] bytes(JsonObject q, String name) {
    return Cells.unhex(q.get(name).getAsString());
  }

  private static void copy(Path from, String to) {
    try {
      Files.copy(new File(from.toUri().getPath()).toPath(), new File(to).toPath(), java.nio.file.StandardCopyOption.REPLACE_EXISTING);
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
