// What design documents find in their world, and what the worker calls. One function is left: __run(text), which takes
// a request as JSON and answers JSON. Everything else is what CouchDB gives to functions: emit, sum, log, isArray,
// toJSON, require, getRow, start, send, provides, registerType.
(function (global) {
  'use strict';
  var parse = JSON.parse, stringify = JSON.stringify, evaluate = global.eval;
  var ddoc = {}, compiled = new Map(), modules = new Map(), rows = null, logs = [];

  function text(value) {
    var made = stringify(value === undefined ? null : value);
    return made === undefined ? 'null' : made;
  }
  function describe(error) {
    if (error && error.stack !== undefined && error.message !== undefined) return error.name + ': ' + error.message;
    return String(source(error));
  }
  // As old engines print an object: ({forbidden:"no"}).
  function source(value) {
    if (value === null || typeof value !== 'object') return value;
    return '(' + text(value).replace(/"([A-Za-z_$][A-Za-z0-9_$]*)":/g, '$1:') + ')';
  }
  function Failure(error, reason) { this.error = error; this.reason = reason; }

  function compile(code, name) {
    var key = name + '\u0000' + code;
    if (compiled.has(key)) return compiled.get(key);
    var made;
    try {
      // Functions without a name are no statements: they are expressions in brackets.
      made = evaluate('(' + code.replace(/;+\s*$/, '') + '\n)');
    } catch (error) {
      throw new Failure('compilation_error', 'Compilation of the function in the \'' + name + '\' failed: ' +
        describe(error));
    }
    if (typeof made !== 'function') {
      throw new Failure('compilation_error', 'Expression does not eval to a function. (' + code + ')');
    }
    compiled.set(key, made);
    return made;
  }

  function find(path) {
    return path.reduce(function (at, name) {
      if (at === null || typeof at !== 'object' || !Object.prototype.hasOwnProperty.call(at, name)) {
        throw new Failure('not_found', 'missing json key: ' + name);
      }
      return at[name];
    }, ddoc);
  }

  // CommonJS over the members of the design document; a view's map sees `views.lib` only, as in CouchDB.
  function resolve(name, base) {
    var path = name.charAt(0) === '.' ? base.slice(0, -1) : [];
    name.split('/').forEach(function (part) {
      if (part === '..') path.pop();
      else if (part !== '.' && part !== '') path.push(part);
    });
    return path;
  }
  function requirer(base) {
    return function require(name) {
      var path = resolve(String(name), base), key = path.join('/');
      if (modules.has(key)) return modules.get(key).exports;
      var code;
      try { code = find(path); } catch (_) { throw new Failure('invalid_require_path', 'no module ' + name); }
      if (typeof code !== 'string') throw new Failure('invalid_require_path', 'no module ' + name);
      var module = { id: key, exports: {}, current: code };
      modules.set(key, module);
      var run = compile('function (module, exports, require) { ' + code + '\n }', key);
      try {
        run.call(module.exports, module, module.exports, requirer(path));
      } catch (error) {
        modules.delete(key);
        throw error;
      }
      return module.exports;
    };
  }

  global.require = requirer([]);
  global.isArray = Array.isArray;
  global.toJSON = text;
  global.log = function (message) {
    if (logs.length < 100) logs.push(String(typeof message === 'string' ? message : text(message)).slice(0, 4096));
  };
  global.sum = function (values) {
    var total = 0;
    for (var i in values) total += values[i];
    return total;
  };
  global.emit = function (key, value) {
    if (rows === null) return;
    rows.push([text(key), text(value)]);
  };
  global.print = global.log;

  function deepFreeze(value) {
    if (value && typeof value === 'object' && !Object.isFrozen(value)) {
      Object.freeze(value);
      Object.keys(value).forEach(function (name) { deepFreeze(value[name]); });
    }
    return value;
  }

  // Shows and lists choose by what the client accepts.
  var types = { all: ['*/*'], text: ['text/plain; charset=utf-8', 'txt'], html: ['text/html; charset=utf-8'],
    xhtml: ['application/xhtml+xml', 'xhtml'],
    xml: ['application/xml', 'text/xml', 'application/x-xml'], js: ['text/javascript', 'application/javascript'],
    css: ['text/css'], ics: ['text/calendar'], csv: ['text/csv'], rss: ['application/rss+xml'],
    atom: ['application/atom+xml'], yaml: ['application/x-yaml', 'text/yaml'],
    json: ['application/json', 'text/x-json'], multipart_form: ['multipart/form-data'],
    url_encoded_form: ['application/x-www-form-urlencoded'] };
  var provided = [];
  global.registerType = function (name) { types[name] = Array.prototype.slice.call(arguments, 1); };
  global.provides = function (name, answer) { provided.push([name, answer]); };
  // A part, and the one of its types that the client wants.
  function ofType(part, number) { return [part[0], part[1], (types[part[0]] || [])[number]]; }
  function choose(req) {
    var accept = String((req.headers && (req.headers.Accept || req.headers.accept)) || '*/*');
    var wanted = accept.split(',').map(function (part, order) {
      var pieces = part.trim().split(';'), quality = 1;
      pieces.slice(1).forEach(function (piece) {
        if (/^\s*q=/.test(piece)) quality = parseFloat(piece.split('=')[1]) || 0;
      });
      return { type: pieces[0], quality: quality, order: order };
    }).sort(function (a, b) { return b.quality - a.quality || a.order - b.order; });
    if (req.query && req.query.format) {
      var named = provided.filter(function (own) { return own[0] === req.query.format; })[0];
      if (named) return ofType(named, 0);
      throw unacceptable(accept);
    }
    for (var i = 0; i < wanted.length; i++) {
      if (wanted[i].type === '*/*') return ofType(provided[0], 0);
      var any = /^[^*]+\/\*$/.test(wanted[i].type) ? wanted[i].type.slice(0, -1) : null;
      for (var j = 0; j < provided.length; j++) {
        var own = (types[provided[j][0]] || []).map(function (type) { return type.split(';')[0]; });
        var fits = own.findIndex(function (type) { return type === wanted[i].type || (any && type.indexOf(any) === 0); });
        if (fits >= 0) return ofType(provided[j], fits);
      }
    }
    throw unacceptable(accept);
  }
  function unacceptable(accept) {
    var all = provided.map(function (own) { return (types[own[0]] || []).join(', '); }).join(', ');
    return new Failure('not_acceptable', 'Content-Type ' + accept + ' not supported, try one of: ' + all);
  }
  function answered(value, kind) {
    if (typeof value === 'string') return { body: value };
    if (value === null || value === undefined) return {};
    if (typeof value === 'object') return value;
    throw new Failure('render_error', 'undefined response from ' + kind + ' function');
  }
  function withType(response, chosen) {
    if (!chosen) return response;
    response.headers = response.headers || {};
    if (!response.headers['Content-Type']) {
      response.headers['Content-Type'] = chosen[2] || 'application/octet-stream';
    }
    return response;
  }

  var head = null, chunks = null, waiting = null;
  global.start = function (response) { head = response || {}; };
  global.send = function (chunk) { if (chunks) chunks.push(String(chunk)); };
  global.getRow = function () { return waiting && waiting.length ? waiting.shift() : null; };

  // What functions throw to choose the error themselves: ["error", name, reason] or {error: name, reason: reason}.
  function chosen(error) {
    if (Array.isArray(error) && (error[0] === 'error' || error[0] === 'fatal')) {
      return new Failure(String(error[1]), String(error[2]));
    }
    if (error && typeof error === 'object' && error.error && error.reason) {
      return new Failure(String(error.error), String(error.reason));
    }
    return null;
  }

  function call(kind, path, args) {
    try {
      return compile(find(path), path.join('.')).apply(ddoc, args);
    } catch (error) {
      if (error instanceof Failure) throw error;
      var own = chosen(error);
      if (own) throw own;
      throw new Failure(kind, 'function raised error: ' + describe(error) + ' \nstacktrace: ' +
        (error && error.stack ? String(error.stack).trim().split('\n').join(', ') : 'undefined'));
    }
  }

  var commands = {
    load: function (request) { ddoc = deepFreeze(request.ddoc); return true; },
    // Whether functions compile: [[name, code]].
    check: function (request) {
      request.functions.forEach(function (own) { compile(own[1], own[0]); });
      return true;
    },
    map: function (request) {
      var map = compile(request.code, 'map');
      return request.docs.map(function (doc) {
        rows = [];
        try {
          map.call(null, deepFreeze(doc));
        } catch (error) {
          if (error instanceof Failure) throw error;
          if (error instanceof Array && error[0] === 'fatal') throw chosen(error);
          rows = [];
          global.log('function raised exception ' + describe(error) + ' with doc._id ' + doc._id);
        }
        var made = rows;
        rows = null;
        return made;
      });
    },
    reduce: function (request) {
      var reduce = compile(request.code, 'reduce'), made;
      try {
        made = request.rereduce ? reduce.call(null, null, request.values, true)
          : reduce.call(null, request.keys, request.values, false);
      } catch (error) {
        if (error instanceof Failure) throw error;
        global.log('function raised exception ' + describe(error));
        made = null;
      }
      made = text(made);
      if (made.length > 4096 && made.length * 2 > request.bytes && !request.large) {
        throw new Failure('reduce_overflow_error', 'Reduce output must shrink more rapidly: Current output: \'' +
          made.slice(0, 100) + '\'... (first 100 of ' + made.length + ' bytes)');
      }
      return made;
    },
    reduce_groups: function (request) {
      return request.groups.map(function (group) {
        group.code = request.code;
        try {
          return commands.reduce(group);
        } catch (error) {
          if (!(error instanceof Failure) || error.error !== 'reduce_overflow_error') throw error;
          var row = {};
          row[error.error] = error.reason;
          return text(row);
        }
      });
    },
    validate: function (request) {
      try {
        compile(find(['validate_doc_update']), 'validate_doc_update')
          .call(ddoc, request.doc, request.old, request.user, request.security);
      } catch (error) {
        if (error instanceof Failure) throw error;
        if (error && error.forbidden !== undefined) return { forbidden: error.forbidden };
        if (error && error.unauthorized !== undefined) return { unauthorized: error.unauthorized };
        return { failed: describe(error) };
      }
      return true;
    },
    filter: function (request) {
      var filter = find(request.path);
      var view = request.path[0] === 'views';
      var code = compile(filter, request.path.join('.'));
      return request.docs.map(function (doc) {
        rows = [];
        try {
          var passes = code.call(ddoc, deepFreeze(doc), request.req);
          if (view) passes = rows.length > 0;
          return !!passes;
        } catch (error) {
          if (error instanceof Failure) throw error;
          if (view) return false;
          if (chosen(error)) throw chosen(error);
          throw new Failure('filter_error', 'function raised error: ' + describe(error));
        } finally {
          rows = null;
        }
      });
    },
    update: function (request) {
      var made = call('render_error', ['updates', request.name], [request.doc, request.req]);
      if (!Array.isArray(made) || made.length < 2) throw new Failure('render_error', 'undefined response from update function');
      var response = answered(made[1], 'update');
      if (made[0] !== null && made[0] !== undefined && typeof made[0] !== 'object') {
        throw new Failure('render_error', 'the document of an update function is an object or null');
      }
      return { doc: made[0] === undefined ? null : made[0], response: response };
    },
    show: function (request) {
      provided = []; head = null; chunks = [];
      try {
        var made = answered(call('render_error', ['shows', request.name], [request.doc, request.req]), 'show');
        var own = null;
        // What was sent comes first, as in a list.
        if (chunks.length) {
          // As in CouchDB, a show begins with headers alone; a list, with an answer that has headers.
          var begun = head || {};
          made.headers = Object.assign(made.headers || {}, typeof begun.headers === 'object' ? begun.headers : begun);
          made.body = chunks.splice(0).join('') + (made.body || '');
        }
        if (provided.length) {
          own = choose(request.req);
          var part = answered(own[1].call(ddoc), 'show');
          made = Object.assign({}, part, made, {
            headers: Object.assign({}, part.headers, made.headers),
            body: (made.body || '') + chunks.join('') + (part.body || ''),
          });
        }
        return withType(made, own);
      } catch (error) {
        if (request.doc === null && request.req.path.length > 5) throw new Failure('not_found', 'document not found');
        throw error;
      } finally {
        chunks = head = null;
      }
    },
    list: function (request) {
      provided = []; head = null; chunks = []; waiting = request.rows;
      try {
        var made = call('render_error', ['lists', request.name], [request.head, request.req]), own = null;
        if (provided.length) {
          own = choose(request.req);
          made = own[1].call(ddoc);
        }
        var response = head || {};
        if (typeof made === 'string') chunks.push(made);
        response.body = chunks.join('');
        response = withType(response, own);
        var headers = response.headers = response.headers || {};
        var typed = Object.keys(headers).some(function (name) { return name.toLowerCase() === 'content-type'; });
        if (!typed) headers['Content-Type'] = 'application/json';
        return response;
      } finally {
        chunks = waiting = head = null;
      }
    },
    rewrite: function (request) {
      var to = call('rewrite_error', ['rewrites'], [request.req]);
      // No answer is no rule that fits.
      return to || null;
    },
  };

  global.__run = function (input) {
    logs = [];
    try {
      var request = parse(input);
      var made = commands[request.command](request);
      return stringify({ ok: made, log: logs });
    } catch (error) {
      if (error instanceof Failure) return stringify({ error: error.error, reason: error.reason, log: logs });
      return stringify({ error: 'unnamed_error', reason: describe(error), log: logs });
    }
  };
})(globalThis);
