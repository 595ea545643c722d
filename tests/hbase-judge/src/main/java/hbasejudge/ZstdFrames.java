package hbasejudge;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import org.apache.hadoop.hbase.io.compress.aircompressor.ZstdCodec;
import org.apache.hadoop.io.compress.CompressionInputStream;
import org.apache.hadoop.io.compress.CompressionOutputStream;
import org.apache.hadoop.io.compress.Compressor;
import org.apache.hadoop.io.compress.Decompressor;

/**
 * ZSTD in bare frames, by aircompressor's replacement for Hadoop's native ZStandardCodec. HBase pools compressors, which the
 * replacement lacks; the pooled compressors are those of HBase's codec and are not used.
 */
public final class ZstdFrames extends ZstdCodec {
  private final io.airlift.compress.zstd.ZstdCodec frames = new io.airlift.compress.zstd.ZstdCodec();

  @Override
  public CompressionInputStream createInputStream(InputStream in, Decompressor unused) throws IOException {
    return frames.createInputStream(in);
  }

  @Override
  public CompressionOutputStream createOutputStream(OutputStream out, Compressor unused) throws IOException {
    return frames.createOutputStream(out);
  }
}
