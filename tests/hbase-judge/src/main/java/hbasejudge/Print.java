package hbasejudge;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.hbase.io.hfile.FixedFileTrailer;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFilePrettyPrinter;
import org.apache.hadoop.hbase.io.hfile.JudgeHFileAccess;

/** What HBase's own HFilePrettyPrinter (`hbase hfile -m -b -h -s`) prints about a file, parsed into fields. */
final class Print {
  private Print() {}

  private static final Pattern STAT = Pattern.compile("(min|max|mean|count) = ([-0-9.]+)");
  private static final Pattern HEADER_FIELD =
    Pattern.compile("(blockType|fileOffset|onDiskSizeWithoutHeader|uncompressedSizeWithoutHeader|prevBlockOffset"
      + "|checksumType|bytesPerChecksum|onDiskDataSizeWithHeader|getOnDiskSizeWithHeader|totalChecksumBytes)=([^,\\]]*)");

  static JsonObject print(String file) throws Exception {
    if (!new File(file).isFile()) throw new java.io.FileNotFoundException(file);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream stream = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    HFilePrettyPrinter printer = new HFilePrettyPrinter(Env.conf());
    printer.setPrintStreams(stream, System.err);
    String path = Env.path(file).toString();
    FixedFileTrailer trailer;
    try (HFile.Reader reader = HFile.createReader(Env.fs(), Env.path(file), Env.conf())) {
      trailer = reader.getTrailer();
    }
    // With -h the printer fails on a file without cells: it reads the first data block at offset -1.
    String flags = trailer.getEntryCount() == 0 ? "-mbs" : "-mbhs";
    int status = printer.run(new String[] { flags, "-f", path });
    JsonObject o = parse(bytes.toString(StandardCharsets.UTF_8).lines().toList());
    o.addProperty("ok", status == 0);
    o.addProperty("file", new File(file).getName());
    // The printer shows no block after the last data block; these are all blocks, by the judge's own pass over the file.
    JsonArray blocks = new JsonArray();
    for (JudgeHFileAccess.Block b : JudgeHFileAccess.readBlocks(new File(file), trailer).list) {
      JsonObject block = new JsonObject();
      block.addProperty("type", b.type);
      block.addProperty("offset", b.offset);
      block.addProperty("size", b.size);
      block.addProperty("uncompressed", b.uncompressed);
      blocks.add(block);
    }
    o.add("blocks", blocks);
    return o;
  }

  /** The sections of the output, each of which begins with its title. */
  private static JsonObject parse(List<String> lines) {
    JsonObject reader = new JsonObject(), trailer = new JsonObject(), fileInfo = new JsonObject();
    JsonObject bloom = null, deleteBloom = null, stats = new JsonObject(), o = new JsonObject();
    JsonArray index = new JsonArray(), headers = new JsonArray();
    String section = "", histogram = "";
    JsonObject entry = null;
    for (String line : lines) {
      String title = line.strip();
      if (List.of("Trailer:", "Fileinfo:", "Bloom filter:", "Delete Family Bloom filter:", "Block Index:", "Block Headers:", "Stats:").contains(title)) {
        section = title;
      } else if (line.startsWith("reader=")) {
        section = "reader";
        pair(reader, line, "=");
      } else if (line.startsWith("Mid-key: ")) {
        o.addProperty("midKey", line.substring("Mid-key: ".length()));
        section = "";
      } else if (line.startsWith("Key of biggest row: ")) {
        o.addProperty("biggestRow", line.substring("Key of biggest row: ".length()));
      } else if (section.equals("reader")) {
        pair(reader, line, "=");
      } else if (section.equals("Trailer:")) {
        pair(trailer, line, "=");
      } else if (section.equals("Fileinfo:")) {
        // Values may begin or end with spaces.
        int at = line.indexOf(" = ");
        if (at > 0) add(fileInfo, line.substring(0, at).strip(), line.substring(at + 3));
      } else if (section.equals("Bloom filter:") && !title.equals("Not present")) {
        if (bloom == null) bloom = new JsonObject();
        pair(bloom, line, ": ");
      } else if (section.equals("Delete Family Bloom filter:") && !title.equals("Not present")) {
        if (deleteBloom == null) deleteBloom = new JsonObject();
        pair(deleteBloom, line, ": ");
      } else if (section.equals("Block Index:")) {
        if (line.startsWith("key=")) {
          entry = new JsonObject();
          entry.addProperty("key", line.substring("key=".length()));
          index.add(entry);
        } else if (entry != null && title.startsWith("offset=")) {
          for (String part : title.split(", ")) pair(entry, part, "=");
        }
      } else if (section.equals("Block Headers:") && line.startsWith("[blockType=")) {
        headers.add(header(line));
      } else if (section.equals("Stats:")) {
        Matcher m = STAT.matcher(title);
        if (title.endsWith(":")) {
          histogram = title.substring(0, title.length() - 1);
        } else if (m.matches()) {
          if (!stats.has(histogram)) stats.add(histogram, new JsonObject());
          stats.getAsJsonObject(histogram).addProperty(m.group(1), Double.parseDouble(m.group(2)));
        }
      }
    }
    o.add("reader", reader);
    o.add("trailer", trailer);
    o.add("fileInfo", fileInfo);
    o.add("bloom", bloom);
    o.add("deleteFamilyBloom", deleteBloom);
    o.add("index", index);
    o.add("headers", headers);
    o.add("stats", stats);
    return o;
  }

  /** Adds a name and its value, which may end in a comma after "name=value"; numbers as numbers. */
  private static void pair(JsonObject o, String line, String separator) {
    String text = line.strip();
    int at = text.indexOf(separator.stripTrailing());
    if (at < 0) return;
    String value = text.substring(at + separator.stripTrailing().length()).strip();
    if (separator.equals("=") && value.endsWith(",")) value = value.substring(0, value.length() - 1);
    add(o, text.substring(0, at).strip(), value);
  }

  private static void add(JsonObject o, String name, String value) {
    if (value.matches("-?[0-9]{1,18}")) o.addProperty(name, Long.parseLong(value));
    else o.addProperty(name, value);
  }

  private static JsonObject header(String line) {
    JsonObject o = new JsonObject();
    Matcher m = HEADER_FIELD.matcher(line);
    // The first occurrence is the header's; the reader's settings follow with the same names.
    while (m.find()) if (!o.has(m.group(1))) add(o, m.group(1), m.group(2));
    return o;
  }
}
