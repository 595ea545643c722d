package hbasejudge;

import com.google.gson.JsonObject;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.MetaTableAccessor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.TableNotFoundException;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.client.TableSnapshotScanner;
import org.apache.hadoop.hbase.master.SplitLogManager;
import org.apache.hadoop.hbase.mob.MobFileCache;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.RegionScanner;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.hadoop.hbase.util.FSTableDescriptors;
import org.apache.hadoop.hbase.wal.AbstractFSWALProvider;
import org.apache.hadoop.hbase.wal.WALFactory;
import org.apache.hadoop.hbase.wal.WALSplitter;

/**
 * What HBase answers for tables of a root directory, without a cluster. The steps are those of a start: the logs of hbase:meta are split
 * and it is opened, then the other logs are split and the regions opened that it lists. All of it is done by HBase, on a copy.
 */
final class RootAnswers implements AutoCloseable {
  private final File copy;
  private final Configuration conf;
  private final FileSystem fs;
  private final Path root;
  private final WALFactory logs;

  private RootAnswers(File original, boolean toHFiles) throws Exception {
    copy = Env.tmpDir("root");
    copy(original.toPath(), copy.toPath());
    root = new Path(copy.toURI());
    conf = Env.conf();
    conf.set(HConstants.HBASE_DIR, root.toString());
    conf.setBoolean("hbase.regionserver.hlog.enabled", false); // what the regions write themselves needs no log
    conf.setBoolean("hbase.hregion.memstore.mslab.enabled", false);
    conf.setBoolean(WALSplitter.WAL_SPLIT_TO_HFILE, toHFiles);
    conf.setInt("hbase.hstore.flush.retries.number", 1);
    fs = Env.fs();
    logs = new WALFactory(conf, "root-" + System.nanoTime());
  }

  /** Writes DIR/NAME.cells.ndjson and DIR/NAME.raw.ndjson for each table and snapshot, or says why HBase refuses. */
  static JsonObject answers(Args a) throws Exception {
    File out = new File(a.get("out", ".")).getAbsoluteFile();
    long now = a.lng("now", System.currentTimeMillis());
    setClock(now);
    JsonObject o = new JsonObject(), tables = new JsonObject(), snapshots = new JsonObject();
    try (RootAnswers answers = new RootAnswers(new File(a.need(0, "ROOT")), a.has("to-hfiles"))) {
      for (String name : a.all("snapshot")) snapshots.add(name, safe(() -> answers.snapshot(name, out)));
      List<RegionInfo> listed = new ArrayList<>();
      JsonObject started = safe(() -> {
        listed.addAll(answers.start());
        return new JsonObject();
      });
      if (a.has("keep")) copy(answers.copy.toPath(), new File(a.get("keep", null)).toPath());
      for (String name : a.pos.subList(1, a.pos.size())) {
        boolean ok = started.get("ok").getAsBoolean();
        tables.add(name, ok ? safe(() -> answers.table(TableName.valueOf(name), listed, out, now)) : started);
      }
      o.addProperty("ok", !a.has("keep") || started.get("ok").getAsBoolean());
      o.add("start", started);
    } finally {
      EnvironmentEdgeManager.reset();
    }
    o.add("tables", tables);
    o.add("snapshots", snapshots);
    return o;
  }

  private interface Work {
    JsonObject run() throws Exception;
  }

  private static JsonObject safe(Work work) {
    try {
      JsonObject o = work.run();
      o.addProperty("ok", true);
      return o;
    } catch (Throwable t) {
      return Judge.failure(t);
    }
  }

  /** Splits all logs, and returns the regions that hbase:meta lists. Its store has its cells in a file then. */
  private List<RegionInfo> start() throws Exception {
    PathFilter isMeta = AbstractFSWALProvider::isMetaFile;
    split(isMeta);
    List<RegionInfo> regions = new ArrayList<>();
    TableDescriptor description = FSTableDescriptors.tryUpdateAndGetMetaTableDescriptor(conf, fs, root);
    HRegion meta = open(RegionInfoBuilder.FIRST_META_REGIONINFO, description);
    try (RegionScanner scanner = meta.getScanner(new Scan().addFamily(HConstants.CATALOG_FAMILY))) {
      List<Cell> row = new ArrayList<>();
      boolean more;
      do {
        row.clear();
        more = scanner.next(row);
        RegionInfo info = row.isEmpty() ? null : MetaTableAccessor.getRegionInfo(Result.create(row));
        if (info != null && !info.isOffline() && !info.isSplit()) regions.add(info);
      } while (more);
      scanner.close();
      meta.flush(true);
    } finally {
      meta.close(true);
    }
    split(path -> !isMeta.accept(path));
    return regions;
  }

  /** Splits those logs of servers that a filter accepts, and moves them away as the master does. */
  private void split(PathFilter filter) throws Exception {
    Path place = new Path(root, HConstants.HREGION_LOGDIR_NAME), old = new Path(root, HConstants.HREGION_OLDLOGDIR_NAME);
    if (!fs.exists(place)) return;
    fs.mkdirs(old);
    for (FileStatus server : fs.listStatus(place)) {
      if (!server.isDirectory() || AbstractFSWALProvider.getServerNameFromWALDirectoryName(server.getPath()) == null) continue;
      for (FileStatus log : SplitLogManager.getFileList(conf, Collections.singletonList(server.getPath()), filter)) {
        if (!WALSplitter.splitLogFile(root, log, fs, conf, null, null, null, logs, null)) throw new IOException("not split: " + log.getPath());
        fs.rename(log.getPath(), new Path(old, log.getPath().getName()));
      }
      if (fs.listStatus(server.getPath()).length == 0) fs.delete(server.getPath(), false);
    }
  }

  private HRegion open(RegionInfo info, TableDescriptor description) throws IOException {
    // No region as the argument, because hbase:meta would get a log of its own, which is written.
    HRegion region = HRegion.newHRegion(CommonFSUtils.getTableDir(root, info.getTable()), logs.getWAL(null), fs, conf, info, description, null);
    region.setMobFileCache(new MobFileCache(conf)); // otherwise the server has one
    region.initialize();
    return region;
  }

  /** HBase's clock begins at this time and goes on, because HBase waits for some things by it. */
  private static void setClock(long now) {
    long begin = System.currentTimeMillis();
    EnvironmentEdgeManager.injectEdge(() -> now + System.currentTimeMillis() - begin);
  }

  private JsonObject table(TableName name, List<RegionInfo> listed, File out, long now) throws Exception {
    List<RegionInfo> regions = new ArrayList<>(listed);
    regions.removeIf(info -> !info.getTable().equals(name));
    if (regions.isEmpty()) throw new TableNotFoundException(name);
    TableDescriptor description = FSTableDescriptors.getTableDescriptorFromFs(fs, root, name);
    if (description == null) throw new TableNotFoundException("no description of " + name);
    File table = new File(CommonFSUtils.getTableDir(root, name).toUri()), saved = Env.tmpDir("table");
    try {
      copy(table.toPath(), saved.toPath());
      long cells = scan(regions, description, false, out, now);
      Env.delete(table);
      copy(saved.toPath(), table.toPath());
      // A region that replays edits flushes them, and a flush drops old versions and expired cells: here it must not.
      TableDescriptorBuilder all = TableDescriptorBuilder.newBuilder(description);
      for (ColumnFamilyDescriptor family : description.getColumnFamilies()) {
        all.modifyColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(family).setMinVersions(0).setTimeToLive(HConstants.FOREVER)
          .setMaxVersions(Integer.MAX_VALUE).setKeepDeletedCells(KeepDeletedCells.TRUE).build());
      }
      scan(regions, all.build(), true, out, now);
      JsonObject o = new JsonObject();
      o.addProperty("regions", regions.size());
      o.addProperty("cells", cells);
      return o;
    } finally {
      Env.delete(saved);
    }
  }

  private long scan(List<RegionInfo> regions, TableDescriptor description, boolean raw, File out, long now) throws Exception {
    long cells = 0;
    try (Cells.Out lines = lines(out, description.getTableName().getNameAsString().replace(':', '.'), raw)) {
      for (RegionInfo info : regions) {
        if (raw) setClock(0); // no cell's own TTL ends
        HRegion region = open(info, description);
        setClock(now);
        try {
          cells += scan(region, raw, lines);
        } finally {
          region.close(true);
        }
      }
    }
    return cells;
  }

  private static Cells.Out lines(File out, String name, boolean raw) throws IOException {
    return new Cells.Out(new File(out, name + (raw ? ".raw.ndjson" : ".cells.ndjson")).getPath());
  }

  private static Scan scan(boolean raw) {
    return new Scan().readVersions(Integer.MAX_VALUE).setRaw(raw);
  }

  private static long scan(HRegion region, boolean raw, Cells.Out out) throws IOException {
    long cells = 0;
    try (RegionScanner scanner = region.getScanner(scan(raw))) {
      List<Cell> row = new ArrayList<>();
      boolean more;
      do {
        row.clear();
        more = scanner.next(row);
        for (Cell cell : row) out.line(Cells.toJson(cell, false, true));
        cells += row.size();
      } while (more);
    }
    return cells;
  }

  private JsonObject snapshot(String name, File out) throws Exception {
    long cells = 0;
    for (boolean raw : new boolean[] { false, true }) {
      File place = Env.tmpDir("restore");
      try (Cells.Out lines = lines(out, name, raw);
        TableSnapshotScanner scanner = new TableSnapshotScanner(conf, new Path(place.toURI()), name, scan(raw))) {
        for (Result row; (row = scanner.next()) != null;) {
          if (row.isEmpty()) continue;
          for (Cell cell : row.rawCells()) lines.line(Cells.toJson(cell, false, true));
          cells += raw ? 0 : row.size();
        }
      } finally {
        Env.delete(place);
      }
    }
    JsonObject o = new JsonObject();
    o.addProperty("cells", cells);
    return o;
  }

  private static void copy(java.nio.file.Path from, java.nio.file.Path to) throws IOException {
    try (Stream<java.nio.file.Path> paths = Files.walk(from)) {
      for (java.nio.file.Path path : (Iterable<java.nio.file.Path>) paths::iterator) {
        java.nio.file.Path place = to.resolve(from.relativize(path));
        if (!Files.isDirectory(place)) Files.copy(path, place);
      }
    }
  }

  @Override
  public void close() throws IOException {
    logs.close();
    Env.delete(copy);
  }
}
