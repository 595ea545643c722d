package hbasejudge;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.File;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.SnapshotDescription;
import org.apache.hadoop.hbase.client.SnapshotType;

/**
 * Makes a root directory from a seed with a standalone HBase: tables, what happens to them in random order, snapshots
 * in between, edits that are only in WALs. Beside it: what HBase reads from it. The JVM is halted afterwards, as a crash would.
 */
final class Snapshots {
  private static final String NAMESPACE = "ns1";
  /** HBase tries without end to open a region that it cannot open; some scans of the empty qualifier seek the same cell without end. */
  private static final int STUCK_SECONDS = 180;
  private static final int STUCK_STATUS = 4;
  private static final int OLD_LAYOUT = 0, NEW_LAYOUT = 2;

  private final Random random;
  private final File out;
  private final Admin admin;
  private final SnapshotTruth truth;
  private final List<SnapshotTable> tables = new ArrayList<>();
  /** Tables by the snapshot that was made of them; a deleted table's snapshots stay. */
  private final Map<String, SnapshotTable> snapshots = new LinkedHashMap<>();
  /** What the cluster answered right after each snapshot, shown and raw. */
  private final Map<String, SnapshotTruth.Truth[]> atSnapshot = new HashMap<>();
  /** Tables that were made what a snapshot was: their logs have edits that the restore took back. */
  private final Set<TableName> restored = new HashSet<>();
  private final JsonArray steps = new JsonArray();
  private int names;

  private Snapshots(Random random, File out, File root) throws Exception {
    this.random = random;
    this.out = out;
    this.admin = Cluster.connection().getAdmin();
    this.truth = new SnapshotTruth(out, root);
  }

  static JsonObject make(Args a) throws Exception {
    long begin = System.nanoTime(), seed = a.lng("seed", 1);
    File out = new File(a.need(0, "OUT")).getAbsoluteFile(), root = new File(out, "rootdir");
    if (root.exists()) throw new IllegalArgumentException(root + " exists");
    if (!root.mkdirs()) throw new IllegalArgumentException("cannot make " + root);
    Thread watchdog = watchdog();
    Random random = new Random(seed);
    int walCompression = random.nextInt(3);
    Cluster.start("local", root, settings(walCompression));
    long started = System.nanoTime();
    Snapshots s = new Snapshots(random, out, root);
    s.play();
    s.leaveInLogs();
    JsonObject manifest = s.describe();
    manifest.addProperty("seed", seed);
    manifest.addProperty("hbase", org.apache.hadoop.hbase.util.VersionInfo.getVersion());
    manifest.addProperty("walCompression", new String[] { "none", "dictionary", "dictionary and values" }[walCompression]);
    Files.writeString(new File(out, "manifest.json").toPath(), Judge.PRETTY.toJson(manifest));
    watchdog.interrupt();
    JsonObject o = new JsonObject();
    o.addProperty("ok", true);
    o.addProperty("seed", seed);
    for (String count : new String[] { "snapshots", "liveTables", "wals" }) o.addProperty(count, manifest.getAsJsonObject(count).size());
    o.addProperty("startMs", (started - begin) / 1_000_000);
    o.addProperty("ms", (System.nanoTime() - begin) / 1_000_000);
    return o;
  }

  /** Halts the JVM if HBase gets stuck; interrupt it at the end. */
  static Thread watchdog() {
    Thread watchdog = new Thread(() -> {
      try {
        // One second at a time: what a stopped JVM sleeps longer does not count.
        for (int i = 0; i < STUCK_SECONDS; i++) Thread.sleep(1000);
        System.err.println("stuck: HBase did not finish in " + STUCK_SECONDS + " s");
        Runtime.getRuntime().halt(STUCK_STATUS);
      } catch (InterruptedException e) {
        // it has finished
      }
    });
    watchdog.setDaemon(true);
    watchdog.start();
    return watchdog;
  }

  static Map<String, String> settings(int walCompression) {
    Map<String, String> c = new HashMap<>();
    // Nothing happens by itself: no compaction, no cleaning of what a snapshot's reader should find.
    for (String period : new String[] { "hbase.master.cleaner.interval", "hbase.catalogjanitor.interval",
      "hbase.hfile.compaction.discharger.interval", "hbase.server.thread.wakefrequency.compaction" }) c.put(period, "3600000");
    c.put("hbase.hstore.compaction.min", "1000");
    c.put("hbase.hstore.compaction.max", "1000");
    c.put("hbase.hstore.blockingStoreFiles", "1000");
    c.put("hbase.hregion.majorcompaction", "0");
    c.put("hbase.regionserver.compaction.enabled", "false");
    c.put("hbase.client.rpc.codec", "org.apache.hadoop.hbase.codec.KeyValueCodecWithTags");
    c.put("hfile.format.version", "3");
    c.put("hbase.client.retries.number", "6");
    // The watchdog ends a call that HBase never answers; a busy machine may stop the JVM for longer than the default minute.
    for (String timeout : new String[] { "hbase.rpc.timeout", "hbase.client.operation.timeout", "hbase.client.scanner.timeout.period" }) c.put(timeout, "600000");
    c.put("hbase.regionserver.wal.enablecompression", Boolean.toString(walCompression > 0));
    c.put("hbase.regionserver.wal.tags.enablecompression", "true");
    c.put("hbase.regionserver.wal.value.enablecompression", Boolean.toString(walCompression > 1));
    c.put("hbase.regionserver.wal.value.compression.type", "gz");
    return c;
  }

  /** Does one thing and notes it; what HBase refuses is noted too, and nothing else happened. */
  private void step(SnapshotTable table, String what, Step step) {
    JsonObject o = new JsonObject();
    o.addProperty("table", table.name.getNameAsString());
    o.addProperty("step", what);
    try {
      String detail = step.run();
      if (detail != null) o.addProperty("detail", detail);
    } catch (Exception e) {
      o.addProperty("refused", e.getClass().getSimpleName() + ": " + String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
    }
    steps.add(o);
  }

  private interface Step {
    String run() throws Exception;
  }

  private void play() throws Exception {
    admin.createNamespace(NamespaceDescriptor.create(NAMESPACE).build());
    int count = 2 + random.nextInt(2);
    for (int i = 0; i < count; i++) {
      TableName name = random.nextInt(3) == 0 ? TableName.valueOf(NAMESPACE, "t" + names++) : TableName.valueOf("t" + names++);
      SnapshotTable table = SnapshotTable.create(admin, name, i == 1 && random.nextBoolean(), random.nextInt(3) == 0, random);
      tables.add(table);
      for (int j = random.nextInt(3); j >= 0; j--) writeAndFlush(table);
    }
    List<String> deck = new ArrayList<>();
    Object[] cards = { "write", 5, "flush", 3, "split", 3, "merge", 2, "bulk load", 2, "compact", 2, "snapshot", 4, "clone", 2, "restore", 1, "delete", 1 };
    for (int i = 0; i < cards.length; i += 2) deck.addAll(Collections.nCopies((Integer) cards[i + 1], (String) cards[i]));
    Collections.shuffle(deck, random);
    for (String card : deck) play(card);
    for (SnapshotTable table : List.copyOf(tables)) if (random.nextInt(3) > 0 || snapshots.isEmpty()) snapshot(table);
  }

  private void writeAndFlush(SnapshotTable table) {
    step(table, "write and flush", () -> {
      table.write();
      table.flush();
      return null;
    });
  }

  private void play(String card) {
    SnapshotTable table = tables.get(random.nextInt(tables.size()));
    switch (card) {
      case "write": writeAndFlush(table); break;
      case "flush": step(table, card, () -> {
        table.flush();
        return null;
      }); break;
      case "split": step(table, card, () -> table.split(admin)); break;
      case "merge": step(table, card, () -> table.merge(admin)); break;
      case "bulk load": step(table, card, table::bulkLoad); break;
      case "compact": step(table, card, table::compact); break;
      case "snapshot": snapshot(table); break;
      case "clone": cloneOne(); break;
      case "restore": if (!table.snapshots.isEmpty()) step(table, card, () -> {
        if (!table.isTracked) restored.add(table.name);
        return table.restore(admin);
      }); break;
      case "delete": if (tables.size() > 1) delete(table); break;
      default: throw new IllegalArgumentException(card);
    }
  }

  private void delete(SnapshotTable table) {
    if (table.snapshots.isEmpty()) snapshot(table);
    step(table, "delete", () -> {
      table.delete(admin);
      return null;
    });
    tables.remove(table);
  }

  private void snapshot(SnapshotTable table) {
    String name = "s" + names++;
    boolean skipsFlush = random.nextInt(5) == 0;
    int layout = random.nextInt(5) == 0 ? OLD_LAYOUT : NEW_LAYOUT;
    Map<String, Object> properties = random.nextInt(4) == 0 ? Map.of("TTL", 864_000L) : Map.of();
    step(table, "snapshot", () -> {
      SnapshotType type = skipsFlush ? SnapshotType.SKIPFLUSH : SnapshotType.FLUSH;
      admin.snapshot(new SnapshotDescription(name, table.name, type, null, -1, layout, properties));
      table.snapshots.add(name);
      snapshots.put(name, table);
      if (!skipsFlush) atSnapshot.put(name, new SnapshotTruth.Truth[] { truth.live(table.name, name, false), truth.live(table.name, name, true) });
      return name;
    });
  }

  private void cloneOne() {
    if (snapshots.isEmpty()) snapshot(tables.get(random.nextInt(tables.size())));
    List<String> all = new ArrayList<>(snapshots.keySet());
    String snapshot = all.get(random.nextInt(all.size()));
    SnapshotTable original = snapshots.get(snapshot);
    SnapshotTable table = original.cloned(random.nextInt(3) == 0 ? TableName.valueOf(NAMESPACE, "t" + names++) : TableName.valueOf("t-" + names++ + ".x_y"));
    step(table, "clone", () -> {
      admin.cloneSnapshot(snapshot, table.name);
      tables.add(table);
      return snapshot;
    });
    if (tables.contains(table) && random.nextBoolean()) writeAndFlush(table);
  }

  /** Edits after the last flush: some in a closed log file, some in the one that is open when the process ends. */
  private void leaveInLogs() throws Exception {
    for (int i = random.nextInt(3); i > 0; i--) {
      SnapshotTable table = tables.get(random.nextInt(tables.size()));
      step(table, "write to the log", () -> {
        table.write();
        return null;
      });
      if (random.nextBoolean()) admin.rollWALWriter(Cluster.server().getServerName());
    }
    SnapshotTable table = tables.get(random.nextInt(tables.size()));
    step(table, "write to the open log", () -> {
      table.write();
      return null;
    });
  }

  private JsonObject describe() throws Exception {
    JsonObject o = new JsonObject(), shots = new JsonObject(), live = new JsonObject();
    for (String name : snapshots.keySet()) {
      JsonObject shot = truth.manifest(name);
      SnapshotTruth.Truth cells = truth.offline(name, false), raw = truth.offline(name, true), then[] = atSnapshot.get(name);
      shot.addProperty("cells", cells.cells());
      shot.addProperty("rows", cells.rows());
      shot.addProperty("rawCells", raw.cells());
      shot.addProperty("cellsFile", cells.file());
      shot.addProperty("rawFile", raw.file());
      shot.addProperty("mob", snapshots.get(name).isMob);
      if (then != null) {
        shot.addProperty("sameAsLiveCluster", then[0].hash().equals(cells.hash()));
        shot.addProperty("sameAsLiveClusterRaw", then[1].hash().equals(raw.hash()));
      }
      shots.add(name, shot);
    }
    for (TableName name : admin.listTableNames()) {
      JsonObject table = truth.table(admin, name);
      table.addProperty("restored", restored.contains(name));
      live.add(name.getNameAsString(), table);
    }
    live.add("hbase:meta", truth.table(admin, TableName.META_TABLE_NAME));
    o.add("steps", steps);
    o.add("snapshots", shots);
    o.add("liveTables", live);
    o.add("wals", truth.wals());
    o.addProperty("now", System.currentTimeMillis());
    return o;
  }
}
