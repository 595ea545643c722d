package hudijudge;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import org.apache.hudi.io.SeekableDataInputStream;
import org.apache.hudi.io.compress.CompressionCodec;
import org.apache.hudi.io.hfile.HFileContext;
import org.apache.hudi.io.hfile.HFileReader;
import org.apache.hudi.io.hfile.HFileReaderImpl;
import org.apache.hudi.io.hfile.KeyValue;
import org.apache.hudi.io.hfile.UTF8StringKey;

/** Answers the commands of stdin by Hudi's reader and writer of HFiles. */
public final class Judge {
  private static final HexFormat HEX = HexFormat.of();

  private Judge() {}

  public static void main(String[] args) throws IOException {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = in.readLine()) != null;) {
      String answer;
      try {
        answer = "ok " + run(line.split("\t"));
      } catch (Exception | Error e) {
        Throwable cause = e instanceof java.lang.reflect.InvocationTargetException ? e.getCause() : e;
        answer = "error " + String.valueOf(cause).replace('\n', ' ');
      }
      System.out.println(answer);
      System.out.flush();
    }
  }

  private static long run(String[] words) throws Exception {
    switch (words[0]) {
      case "write": return write(words);
      case "read": return read(words[1], words[2]);
      case "seek": return seek(words[1], words[2], words[3]);
      default: throw new IllegalArgumentException("command " + words[0]);
    }
  }

  /** By reflection, because hudi-io 1.0.2 has no writer. */
  private static long write(String[] words) throws Exception {
    HFileContext.Builder builder = HFileContext.builder();
    builder.compressionCodec(CompressionCodec.valueOf(words[3]));
    builder.getClass().getMethod("blockSize", int.class).invoke(builder, Integer.parseInt(words[4]));
    builder.getClass().getMethod("fileCreationTime", long.class).invoke(builder, 1700000000000L);
    Class<?> type = Class.forName("org.apache.hudi.io.hfile.HFileWriterImpl");
    long count = 0;
    try (OutputStream out = new FileOutputStream(words[1]);
         AutoCloseable writer = (AutoCloseable) type.getConstructor(HFileContext.class, OutputStream.class).newInstance(builder.build(), out)) {
      for (int i = 5; i < words.length; i++) {
        int at = words[i].indexOf('=');
        type.getMethod("appendMetaInfo", String.class, byte[].class).invoke(writer, words[i].substring(0, at), HEX.parseHex(words[i].substring(at + 1)));
      }
      type.getMethod("appendFileInfo", String.class, byte[].class).invoke(writer, "schema", "{}".getBytes(StandardCharsets.UTF_8));
      for (String line : Files.readAllLines(Path.of(words[2]))) {
        String[] cell = line.split(" ", -1);
        String key = new String(HEX.parseHex(cell[0]), StandardCharsets.UTF_8);
        type.getMethod("append", String.class, byte[].class).invoke(writer, key, HEX.parseHex(cell[1]));
        count++;
      }
    }
    return count;
  }

  private static HFileReader open(String file) throws IOException {
    byte[] bytes = Files.readAllBytes(Path.of(file));
    return new HFileReaderImpl(new Bytes(bytes), bytes.length);
  }

  private static byte[] value(KeyValue cell) {
    return Arrays.copyOfRange(cell.getBytes(), cell.getValueOffset(), cell.getValueOffset() + cell.getValueLength());
  }

  private static long read(String file, String cells) throws IOException {
    long count = 0;
    try (HFileReader reader = open(file); BufferedWriter out = Files.newBufferedWriter(Path.of(cells))) {
      reader.initializeMetadata();
      if (reader.getNumKeyValueEntries() > 0) {
        for (boolean more = reader.seekTo(); more; more = reader.next()) {
          KeyValue cell = reader.getKeyValue().get();
          byte[] key = Arrays.copyOfRange(cell.getBytes(), cell.getKeyContentOffset(), cell.getKeyContentOffset() + cell.getKeyContentLength());
          out.write(HEX.formatHex(key) + " " + HEX.formatHex(value(cell)) + "\n");
          count++;
        }
      }
      if (count != reader.getNumKeyValueEntries()) throw new IOException("read " + count + " of " + reader.getNumKeyValueEntries() + " cells");
    }
    return count;
  }

  private static long seek(String file, String keys, String answers) throws IOException {
    long count = 0;
    try (HFileReader reader = open(file); BufferedWriter out = Files.newBufferedWriter(Path.of(answers))) {
      reader.initializeMetadata();
      reader.seekTo(); // Seeks go on from the position, which a new reader does not have.
      for (String key : Files.readAllLines(Path.of(keys))) {
        int found = reader.seekTo(new UTF8StringKey(HEX.parseHex(key)));
        out.write((found == HFileReader.SEEK_TO_FOUND ? HEX.formatHex(value(reader.getKeyValue().get())) : "absent") + "\n");
        count++;
      }
    }
    return count;
  }

  /** The classes for bytes in memory have other names in each version. */
  private static final class Bytes extends SeekableDataInputStream {
    private final Positioned in;

    Bytes(byte[] bytes) {
      this(new Positioned(bytes));
    }

    private Bytes(Positioned in) {
      super(in);
      this.in = in;
    }

    @Override
    public long getPos() {
      return in.position();
    }

    @Override
    public void seek(long position) throws IOException {
      in.seek(position);
    }
  }

  private static final class Positioned extends ByteArrayInputStream {
    Positioned(byte[] bytes) {
      super(bytes);
    }

    long position() {
      return pos;
    }

    void seek(long position) throws IOException {
      if (position < 0 || position > count) throw new EOFException("position " + position + " of " + count);
      pos = (int) position;
    }
  }
}
