package hbasejudge;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.hadoop.util.bloom.BloomFilter;
import org.apache.hadoop.util.bloom.CountingBloomFilter;
import org.apache.hadoop.util.bloom.DynamicBloomFilter;
import org.apache.hadoop.util.bloom.Filter;
import org.apache.hadoop.util.bloom.Key;
import org.apache.hadoop.util.hash.Hash;

/** Hadoop's Bloom filters, built from keys and read from bytes, for each key set. */
final class HadoopFilters {
  private static final HexFormat HEX = HexFormat.of();

  private HadoopFilters() {}

  /** hadoop-filters SETS --out ANSWERS: one line of JSON per set and per answer. */
  static JsonObject sets(Args a) throws Exception {
    int sets = 0;
    try (BufferedReader in = Files.newBufferedReader(Path.of(a.need(0, "SETS")));
        PrintWriter out = new PrintWriter(a.get("out", "answers"), StandardCharsets.UTF_8)) {
      for (String line; (line = in.readLine()) != null; sets++) {
        out.println(Judge.GSON.toJson(answer(JsonParser.parseString(line).getAsJsonObject())));
      }
      if (out.checkError()) throw new IOException("cannot write the answers");
    }
    JsonObject o = new JsonObject();
    o.addProperty("ok", true);
    o.addProperty("sets", sets);
    return o;
  }

  private static JsonObject answer(JsonObject set) throws Exception {
    String kind = set.get("kind").getAsString();
    int hash = set.get("hash").getAsString().equals("jenkins") ? Hash.JENKINS_HASH : Hash.MURMUR_HASH;
    Filter made = make(kind, set.get("bits").getAsInt(), set.get("hashes").getAsInt(), hash, set.get("rowKeys").getAsInt());
    for (Key key : keys(set, "keys")) made.add(key);
    for (Key key : keys(set, "removed")) ((CountingBloomFilter) made).delete(key);
    JsonObject o = new JsonObject();
    o.addProperty("bytes", hex(made));

    byte[] bytes = HEX.parseHex(set.get("read").getAsString());
    Filter read = empty(kind);
    try {
      DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
      read.readFields(in);
      if (in.available() > 0) throw new IOException(in.available() + " bytes are left");
    } catch (IOException | IllegalArgumentException e) {
      o.addProperty("error", e.toString());
      return o;
    }
    o.addProperty("again", hex(read));
    StringBuilder maybe = new StringBuilder();
    JsonArray counts = new JsonArray();
    for (Key key : keys(set, "asked")) {
      maybe.append(read.membershipTest(key) ? '1' : '0');
      if (read instanceof CountingBloomFilter) counts.add(((CountingBloomFilter) read).approximateCount(key));
    }
    o.addProperty("maybe", maybe.toString());
    o.add("counts", counts);
    return o;
  }

  private static Filter make(String kind, int bits, int hashes, int hash, int rowKeys) {
    switch (kind) {
      case "bloom": return new BloomFilter(bits, hashes, hash);
      case "counting": return new CountingBloomFilter(bits, hashes, hash);
      case "dynamic": return new DynamicBloomFilter(bits, hashes, hash, rowKeys);
      default: throw new IllegalArgumentException("unknown kind " + kind);
    }
  }

  private static Filter empty(String kind) {
    switch (kind) {
      case "bloom": return new BloomFilter();
      case "counting": return new CountingBloomFilter();
      default: return new DynamicBloomFilter();
    }
  }

  private static List<Key> keys(JsonObject set, String name) {
    List<Key> keys = new ArrayList<>();
    for (JsonElement key : set.getAsJsonArray(name)) keys.add(new Key(HEX.parseHex(key.getAsString())));
    return keys;
  }

  private static String hex(Filter filter) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    filter.write(new DataOutputStream(bytes));
    return HEX.formatHex(bytes.toByteArray());
  }
}
