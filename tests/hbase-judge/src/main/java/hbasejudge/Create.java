package hbasejudge;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.snapshot.SnapshotDescriptionUtils;
import org.apache.hadoop.hbase.snapshot.SnapshotManifest;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.FSTableDescriptors;
import org.apache.hadoop.hbase.util.TableDescriptorChecker;
import org.jruby.embed.LocalContextScope;
import org.jruby.embed.ScriptingContainer;

/** Evaluates a statement of HBase's shell that creates a table, and compares its descriptor with that of a table. */
final class Create {
  /** The shell's constants, such as NAME and VERSIONS, are strings of the same text. */
  private static final String SHELL = "def Object.const_missing(name); name.to_s; end\ndef create(*all); all; end\n";

  private Create() {
  }

  static JsonObject create(Args a) throws Exception {
    Configuration conf = Env.conf();
    String statement = new String(Files.readAllBytes(Paths.get(a.need(0, "FILE"))), StandardCharsets.UTF_8);
    ScriptingContainer ruby = new ScriptingContainer(LocalContextScope.SINGLETHREAD);
    ruby.getProvider().getRubyInstanceConfig().setDisableGems(true);
    List<?> all = (List<?>) ruby.runScriptlet(SHELL + statement);
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(TableName.valueOf((String) all.get(0)));
    List<byte[]> splits = new ArrayList<>();
    JsonArray families = new JsonArray();
    for (Object part : all.subList(1, all.size())) {
      Map<?, ?> map = (Map<?, ?>) part;
      if (map.containsKey("NAME")) {
        table.setColumnFamily(family(map).build());
        families.add((String) map.get("NAME"));
      } else {
        setTable(table, map, splits);
      }
    }
    TableDescriptor made = table.build();
    TableDescriptorChecker.sanityCheck(conf, made);
    TableDescriptor original = original(conf, new Path(new File(a.get("root", null)).toURI()), a.get("like", ""));
    JsonArray errors = new JsonArray();
    if (TableDescriptor.COMPARATOR.compare(made, original) != 0) errors.add("made " + made + ", but the original is " + original);
    for (int i = 1; i < splits.size(); i++) {
      if (Bytes.compareTo(splits.get(i - 1), splits.get(i)) >= 0) errors.add("splits do not ascend");
    }
    JsonObject o = new JsonObject();
    o.addProperty("ok", errors.isEmpty());
    o.addProperty("table", made.getTableName().getNameAsString());
    o.add("families", families);
    o.addProperty("splits", splits.size());
    o.add("errors", errors);
    return o;
  }

  /** The setters are those of admin.rb, which store an attribute under its name. */
  private static ColumnFamilyDescriptorBuilder family(Map<?, ?> map) throws Exception {
    ColumnFamilyDescriptorBuilder family = ColumnFamilyDescriptorBuilder.newBuilder(Bytes.toBytes((String) map.get("NAME")));
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      String key = entry.getKey().toString();
      switch (key) {
        case "NAME": break;
        case "TTL": family.setTimeToLive((String) entry.getValue()); break;
        case "METADATA": ((Map<?, ?>) entry.getValue()).forEach((k, v) -> family.setValue(k.toString(), v.toString())); break;
        case "CONFIGURATION": ((Map<?, ?>) entry.getValue()).forEach((k, v) -> family.setConfiguration(k.toString(), v.toString())); break;
        default:
          // The shell warns of other names, and ignores them. VERSIONS is a constant of another class.
          if (!key.equals(HConstants.VERSIONS)) ColumnFamilyDescriptorBuilder.class.getField(key);
          family.setValue(key, (String) entry.getValue());
      }
    }
    return family;
  }

  private static void setTable(TableDescriptorBuilder table, Map<?, ?> map, List<byte[]> splits) {
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      switch (entry.getKey().toString()) {
        case "SPLITS": ((List<?>) entry.getValue()).forEach(row -> splits.add(Bytes.toBytesBinary(row.toString()))); break;
        case "METADATA": ((Map<?, ?>) entry.getValue()).forEach((k, v) -> table.setValue(k.toString(), v.toString())); break;
        case "CONFIGURATION": ((Map<?, ?>) entry.getValue()).forEach((k, v) -> table.setValue(k.toString(), v.toString())); break;
        default: throw new IllegalArgumentException("the shell has no " + entry.getKey());
      }
    }
  }

  private static TableDescriptor original(Configuration conf, Path root, String like) throws Exception {
    FileSystem fs = root.getFileSystem(conf);
    String name = like.substring(like.indexOf(':') + 1);
    if (like.startsWith("table:")) return FSTableDescriptors.getTableDescriptorFromFs(fs, root, TableName.valueOf(name));
    Path place = SnapshotDescriptionUtils.getCompletedSnapshotDir(name, root);
    return SnapshotManifest.open(conf, fs, place, SnapshotDescriptionUtils.readSnapshotInfo(fs, place)).getTableDescriptor();
  }
}
