package hbasejudge;

import java.io.EOFException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALFactory;

/**
 * HBase's reader of a write-ahead log. HBase 2.6 has a WALStreamReader in place of WAL.Reader, with the same
 * methods, so both are called by reflection.
 */
final class LogReader implements AutoCloseable {
  private final Object reader;
  private final Method next;

  LogReader(FileSystem fs, Path file, Configuration conf) throws Exception {
    reader = call(WALFactory.class.getMethod(factoryMethod(), FileSystem.class, Path.class, Configuration.class), null, fs, file, conf);
    next = reader.getClass().getMethod("next");
    next.setAccessible(true);
  }

  private static String factoryMethod() {
    try {
      Class.forName("org.apache.hadoop.hbase.wal.WALStreamReader");
      return "createStreamReader";
    } catch (ClassNotFoundException e) {
      return "createReader"; // HBase 2.5
    }
  }

  /** The next entry, or null at the end. A log that was not closed has no trailer: at its end HBase 2.6 throws, and 2.5 returns null. */
  WAL.Entry next() throws Exception {
    try {
      return (WAL.Entry) call(next, reader);
    } catch (EOFException e) {
      return null;
    }
  }

  private static Object call(Method method, Object of, Object... args) throws Exception {
    try {
      return method.invoke(of, args);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof Exception cause) throw cause;
      throw e;
    }
  }

  @Override
  public void close() throws Exception {
    ((AutoCloseable) reader).close();
  }
}
