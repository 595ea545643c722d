package hbasejudge;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.File;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableSnapshotScanner;
import org.apache.hadoop.hbase.io.HFileLink;
import org.apache.hadoop.hbase.regionserver.StoreFileInfo;
import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.generated.SnapshotProtos.SnapshotDescription;
import org.apache.hadoop.hbase.shaded.protobuf.generated.SnapshotProtos.SnapshotRegionManifest;
import org.apache.hadoop.hbase.snapshot.SnapshotDescriptionUtils;
import org.apache.hadoop.hbase.snapshot.SnapshotManifest;
import org.apache.hadoop.hbase.wal.WAL;

/** What HBase itself reads from a root directory: cells of live tables and of snapshots, entries of WALs, manifests. */
final class SnapshotTruth {
  private final File out;
  private final Configuration conf = Cluster.conf();
  private final FileSystem fs;
  private final Path root;
  /** The file that has the lines already, for each hash of them: equal truths are stored once. */
  private final Map<String, String> known = new HashMap<>();

  SnapshotTruth(File out, File root) throws Exception {
    this.out = out;
    this.root = new Path(root.toURI());
    this.fs = this.root.getFileSystem(conf);
  }

  /** Cells in a file, with how many there are and their hash. */
  record Truth(String file, long cells, long rows, String hash) {}

  private interface Rows extends AutoCloseable {
    Result next() throws Exception;

    @Override
    void close() throws Exception;
  }

  private static Scan scan(boolean raw) {
    return new Scan().readVersions(Integer.MAX_VALUE).setRaw(raw).setCacheBlocks(false).setCaching(500);
  }

  /** The running cluster's answer, in a file of that name. */
  Truth live(TableName name, String file, boolean raw) throws Exception {
    Table table = Cluster.connection().getTable(name);
    ResultScanner scanner = table.getScanner(scan(raw));
    return write(file + (raw ? ".liveraw" : ".live") + ".ndjson.gz", new Rows() {
      @Override
      public Result next() throws Exception {
        return scanner.next();
      }

      @Override
      public void close() throws Exception {
        scanner.close();
        table.close();
      }
    });
  }

  /** The answer of HBase's offline reader, which gets no help from the cluster. */
  Truth offline(String snapshot, boolean raw) throws Exception {
    File place = Env.tmpDir("restore");
    TableSnapshotScanner scanner = new TableSnapshotScanner(conf, new Path(place.toURI()), snapshot, scan(raw));
    return write(snapshot + (raw ? ".raw" : ".cells") + ".ndjson.gz", new Rows() {
      @Override
      public Result next() throws Exception {
        return scanner.next();
      }

      @Override
      public void close() {
        scanner.close();
        Env.delete(place);
      }
    });
  }

  private Truth write(String name, Rows source) throws Exception {
    long cells = 0;
    Set<String> rows = new HashSet<>();
    java.security.MessageDigest digest = java.security.MessageDigest.getInstance("SHA-256");
    File file = new File(out, name);
    try (Rows in = source; Cells.Out lines = new Cells.Out(file.getPath())) {
      for (Result r; (r = in.next()) != null;) {
        if (r.isEmpty()) continue;
        rows.add(Cells.hex(r.getRow()));
        for (Cell c : r.rawCells()) {
          String line = Cells.toJson(c, false, true);
          digest.update(line.getBytes(java.nio.charset.StandardCharsets.UTF_8));
          lines.line(line);
          cells++;
        }
      }
    }
    String hash = Cells.hex(digest.digest());
    String first = known.putIfAbsent(hash, name);
    if (first != null && !first.equals(name) && !file.delete()) throw new IllegalStateException("cannot delete " + file);
    return new Truth(first == null ? name : first, cells, rows.size(), hash);
  }

  /** A snapshot as HBase decodes its manifest. */
  JsonObject manifest(String snapshot) throws Exception {
    Path place = SnapshotDescriptionUtils.getCompletedSnapshotDir(snapshot, root);
    SnapshotDescription description = SnapshotDescriptionUtils.readSnapshotInfo(fs, place);
    JsonObject o = new JsonObject();
    o.addProperty("table", description.getTable());
    o.addProperty("type", description.getType().name());
    o.addProperty("version", description.getVersion());
    o.addProperty("creationTime", description.getCreationTime());
    o.addProperty("ttl", description.getTtl());
    int files = 0, links = 0, references = 0, parents = 0;
    JsonArray regions = new JsonArray();
    for (SnapshotRegionManifest m : SnapshotManifest.open(conf, fs, place, description).getRegionManifests()) {
      RegionInfo info = ProtobufUtil.toRegionInfo(m.getRegionInfo());
      JsonObject region = region(info), families = new JsonObject();
      region.addProperty("offline", info.isOffline());
      region.addProperty("split", info.isSplit());
      if (info.isSplitParent()) parents++;
      for (SnapshotRegionManifest.FamilyFiles f : m.getFamilyFilesList()) {
        JsonArray names = new JsonArray();
        for (SnapshotRegionManifest.StoreFile s : f.getStoreFilesList()) {
          JsonObject file = new JsonObject();
          file.addProperty("name", s.getName());
          file.addProperty("size", s.getFileSize());
          if (s.hasReference()) {
            file.addProperty("half", s.getReference().getRange().name());
            file.addProperty("splitKey", Cells.hex(s.getReference().getSplitkey().toByteArray()));
          }
          names.add(file);
          if (StoreFileInfo.isReference(s.getName())) references++;
          else if (HFileLink.isHFileLink(s.getName())) links++;
          else files++;
        }
        families.add(f.getFamilyName().toStringUtf8(), names);
      }
      region.add("families", families);
      regions.add(region);
    }
    o.addProperty("files", files);
    o.addProperty("links", links);
    o.addProperty("references", references);
    o.addProperty("splitParents", parents);
    o.add("regions", regions);
    return o;
  }

  private static JsonObject region(RegionInfo info) {
    JsonObject o = new JsonObject();
    o.addProperty("encoded", info.getEncodedName());
    o.addProperty("start", Cells.hex(info.getStartKey()));
    o.addProperty("end", Cells.hex(info.getEndKey()));
    o.addProperty("regionId", info.getRegionId());
    return o;
  }

  JsonObject table(Admin admin, TableName name) throws Exception {
    String file = name.getNameAsString().replace(':', '.');
    Truth cells = live(name, file, false), raw = live(name, file, true);
    JsonObject o = new JsonObject();
    o.addProperty("cells", cells.cells());
    o.addProperty("rows", cells.rows());
    o.addProperty("rawCells", raw.cells());
    o.addProperty("liveFile", cells.file());
    o.addProperty("liveRawFile", raw.file());
    JsonArray regions = new JsonArray();
    if (!TableName.isMetaTableName(name)) for (RegionInfo info : admin.getRegions(name)) regions.add(region(info));
    o.add("regions", regions);
    return o;
  }

  /** Every log file below WALs and oldWALs, with its entries. */
  JsonObject wals() throws Exception {
    JsonObject o = new JsonObject();
    for (String top : new String[] { "WALs", "oldWALs" }) wals(new File(out, "rootdir/" + top), top, o);
    return o;
  }

  private void wals(File place, String relative, JsonObject o) throws Exception {
    File[] files = place.listFiles();
    if (files == null) return;
    for (File file : files) {
      String name = relative + "/" + file.getName();
      if (file.isDirectory()) wals(file, name, o);
      else o.add(name, wal(file));
    }
  }

  private JsonObject wal(File file) throws Exception {
    String dump = "wal/" + file.getName() + ".ndjson.gz";
    long entries = 0, cells = 0, markers = 0;
    try (LogReader reader = new LogReader(fs, new Path(file.toURI()), conf); Cells.Out lines = new Cells.Out(new File(out, dump).getPath())) {
      for (WAL.Entry e; (e = reader.next()) != null;) {
        entries++;
        StringBuilder sb = new StringBuilder("{\"region\":\"").append(new String(e.getKey().getEncodedRegionName(), java.nio.charset.StandardCharsets.UTF_8))
          .append("\",\"table\":\"").append(e.getKey().getTableName().getNameAsString())
          .append("\",\"sequence\":").append(e.getKey().getSequenceId()).append(",\"write_time\":").append(e.getKey().getWriteTime()).append(",\"cells\":[");
        String comma = "";
        for (Cell c : e.getEdit().getCells()) {
          sb.append(comma).append(Cells.toJson(c, false, true));
          comma = ",";
          if (CellUtil.matchingFamily(c, org.apache.hadoop.hbase.wal.WALEdit.METAFAMILY)) markers++;
          else cells++;
        }
        lines.line(sb.append("]}").toString());
      }
    }
    JsonObject o = new JsonObject();
    o.addProperty("bytes", file.length());
    o.addProperty("entries", entries);
    o.addProperty("cells", cells);
    o.addProperty("markers", markers);
    o.addProperty("dump", dump);
    return o;
  }
}
