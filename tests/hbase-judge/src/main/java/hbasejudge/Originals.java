package hbasejudge;

import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import com.google.gson.JsonObject;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;

/** Two Java Bloom filters with many re-implementations: Guava's class, and the SimpleBloomFilter of many articles. */
final class Originals {
  private Originals() {}

  /** guava make OUT KEYS --expected N --fpp P [--strategy 64|32], or guava check FILE KEYS. */
  static JsonObject guava(Args a) throws Exception {
    List<byte[][]> keys = Cells.readKeys(a.need(2, "KEYS"));
    String file = a.need(1, "FILE");
    Funnel<byte[]> funnel = Funnels.byteArrayFunnel();
    BloomFilter<byte[]> filter;
    if (a.need(0, "make|check").equals("make")) {
      long expected = a.lng("expected", keys.size());
      double fpp = a.dbl("fpp", 0.01);
      filter = a.get("strategy", "64").equals("64") ? BloomFilter.create(funnel, expected, fpp) : older(funnel, expected, fpp);
      for (byte[][] k : keys) filter.put(k[0]);
      try (OutputStream out = new FileOutputStream(file)) {
        filter.writeTo(out);
      }
    } else {
      try (InputStream in = new FileInputStream(file)) {
        filter = BloomFilter.readFrom(in, funnel);
      }
    }
    long maybe = 0;
    for (byte[][] k : keys) if (filter.mightContain(k[0])) maybe++;
    JsonObject o = new JsonObject();
    o.addProperty("ok", true);
    o.addProperty("keys", keys.size());
    o.addProperty("maybe", maybe);
    o.addProperty("expectedFpp", filter.expectedFpp());
    return o;
  }

  /** The strategy that Guava still reads but has no public way to make. */
  @SuppressWarnings("unchecked")
  private static BloomFilter<byte[]> older(Funnel<byte[]> funnel, long expected, double fpp) throws Exception {
    Class<?> strategies = Class.forName("com.google.common.hash.BloomFilterStrategies");
    Object strategy = strategies.getEnumConstants()[0];
    for (Method m : BloomFilter.class.getDeclaredMethods()) {
      if (m.getName().equals("create") && m.getParameterCount() == 4 && m.getParameterTypes()[1] == long.class) {
        m.setAccessible(true);
        return (BloomFilter<byte[]>) m.invoke(null, funnel, expected, fpp, strategy);
      }
    }
    throw new IllegalStateException("this Guava has no BloomFilter.create(Funnel, long, double, Strategy)");
  }

  /** simplebloom make OUT KEYS, or simplebloom check FILE KEYS; keys are UTF-8 texts, the file a BitSet. */
  static JsonObject simpleBloom(Args a) throws Exception {
    List<byte[][]> keys = Cells.readKeys(a.need(2, "KEYS"));
    Path file = Path.of(a.need(1, "FILE"));
    SimpleBloomFilter filter = new SimpleBloomFilter();
    if (a.need(0, "make|check").equals("make")) {
      for (byte[][] k : keys) filter.add(new String(k[0], StandardCharsets.UTF_8));
      Files.write(file, filter.bits.toByteArray());
    } else {
      filter.bits.or(BitSet.valueOf(Files.readAllBytes(file)));
    }
    long maybe = 0;
    for (byte[][] k : keys) if (filter.contains(new String(k[0], StandardCharsets.UTF_8))) maybe++;
    JsonObject o = new JsonObject();
    o.addProperty("ok", true);
    o.addProperty("keys", keys.size());
    o.addProperty("maybe", maybe);
    o.addProperty("cardinality", filter.bits.cardinality());
    return o;
  }

  /** As commonly published: seven string hashes with odd seeds over one BitSet of 2^25 bits. */
  static final class SimpleBloomFilter {
    static final int SIZE = 2 << 24;
    static final int[] SEEDS = {5, 7, 11, 13, 31, 37, 61};
    final BitSet bits = new BitSet(SIZE);

    static int hash(String value, int cap, int seed) {
      int result = 0;
      for (int i = 0; i < value.length(); i++) result = seed * result + value.charAt(i);
      return (cap - 1) & result;
    }

    void add(String value) {
      for (int seed : SEEDS) bits.set(hash(value, SIZE, seed), true);
    }

    boolean contains(String value) {
      boolean all = true;
      for (int seed : SEEDS) all = all && bits.get(hash(value, SIZE, seed));
      return all;
    }
  }
}
