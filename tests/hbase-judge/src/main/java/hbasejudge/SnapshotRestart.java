package hbasejudge;

import com.google.gson.JsonObject;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;

/** Starts HBase on a copy of a root directory that {@link Snapshots} made, and notes what it returns after it has replayed the logs. */
final class SnapshotRestart {
  private SnapshotRestart() {}

  static JsonObject restart(Args a) throws Exception {
    File out = new File(a.need(0, "OUT")).getAbsoluteFile(), root = new File(out, "restarted");
    copy(new File(out, "rootdir").toPath(), root.toPath());
    Thread watchdog = Snapshots.watchdog();
    Cluster.start("local", root, Snapshots.settings(0));
    JsonObject tables = new JsonObject();
    SnapshotTruth truth = new SnapshotTruth(out, root);
    try (Admin admin = Cluster.connection().getAdmin()) {
      for (TableName name : admin.listTableNames()) {
        long end = System.currentTimeMillis() + 60_000;
        while (!admin.isTableAvailable(name) && System.currentTimeMillis() < end) Thread.sleep(50);
        String file = name.getNameAsString().replace(':', '.') + ".restarted";
        JsonObject table = new JsonObject();
        table.addProperty("liveFile", truth.live(name, file, false).file());
        table.addProperty("liveRawFile", truth.live(name, file, true).file());
        tables.add(name.getNameAsString(), table);
      }
    }
    watchdog.interrupt();
    JsonObject o = new JsonObject();
    o.addProperty("ok", true);
    o.add("tables", tables);
    return o;
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> paths = Files.walk(from)) {
      for (Path path : (Iterable<Path>) paths::iterator) Files.copy(path, to.resolve(from.relativize(path)));
    }
  }
}
