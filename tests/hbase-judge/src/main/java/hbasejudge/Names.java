package hbasejudge;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/** Says which names HBase allows. */
final class Names {
  /** For each name in hex, whether a column family may have it. */
  static JsonObject families(Args a) {
    JsonArray allowed = new JsonArray();
    for (String hex : a.pos) {
      boolean is;
      try {
        ColumnFamilyDescriptorBuilder.of(Bytes.fromHex(hex));
        is = true;
      } catch (IllegalArgumentException e) {
        is = false;
      }
      allowed.add(is);
    }
    JsonObject o = new JsonObject();
    o.addProperty("ok", true);
    o.add("allowed", allowed);
    return o;
  }
}
