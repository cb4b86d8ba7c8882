'use strict';
// The page of `attune explore`. Everything in it that comes from a model becomes text of elements, never markup.

// ---------------------------------------------------------------------------------------------- data

let core = null, blobs = null;
const opened = new Map();

function bytesOf(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i)
    bytes[i] = text.charCodeAt(i);
  return bytes;
}

// Returns the bytes of a blob: a letter, z if the bytes are compressed by zlib or p if they are plain, then base64.
async function unpack(blob) {
  const bytes = bytesOf(blob.slice(1));
  if (blob[0] !== 'z')
    return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function blobBytes(id) {
  // The blobs are the last element of the page, so that the first view is drawn before they have been read.
  if (document.readyState === 'loading')
    await new Promise(done => addEventListener('DOMContentLoaded', done, {once: true}));
  if (!blobs)
    blobs = JSON.parse(document.getElementById('blobs').textContent);
  return unpack(blobs[id]);
}

async function blobLines(id) {
  if (id < 0)
    return [];
  if (!opened.has(id))
    opened.set(id, new TextDecoder().decode(await blobBytes(id)).split('\n'));
  return opened.get(id);
}

// Returns the module paths that a pattern stands for: "layer.{0-2,5}.ffn" stands for the layers 0, 1, 2 and 5.
function expand(pattern) {
  const match = /^(.*)\{([0-9,-]+)\}(.*)$/.exec(pattern);
  if (!match)
    return [pattern];
  const paths = [];
  for (const part of match[2].split(',')) {
    const [first, last] = part.split('-').map(Number);
    for (let i = first; i <= (last === undefined ? first : Math.min(last, first + 9999)); ++i)
      paths.push(match[1] + i + match[3]);
  }
  return paths;
}

function isInside(path, module) { return path === module || path.startsWith(module + '.'); }
function concerns(patterns, module) { return !module || patterns.some(p => expand(p).some(path => isInside(path, module))); }

// ---------------------------------------------------------------------------------------------- elements

function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties || {})) {
    if (key === 'class')
      element.className = value;
    else if (key.startsWith('on'))
      element.addEventListener(key.slice(2), value);
    else
      element.setAttribute(key, value);
  }
  for (const child of children)
    element.append(child instanceof Node ? child : String(child));
  return element;
}

function draw(tag, attributes, title) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attributes))
    element.setAttribute(key, value);
  if (title !== undefined) {
    const text = document.createElementNS('http://www.w3.org/2000/svg', 'title');
    text.textContent = title;
    element.append(text);
  }
  return element;
}

function number(value, digits) {
  if (Math.abs(value) >= 1000)
    return String(Math.round(value));
  return value === undefined || value === null ? '' : String(Number(Number(value).toPrecision(digits || 3)));
}

function size(bytes) {
  for (const unit of ['B', 'KiB', 'MiB', 'GiB']) {
    if (bytes < 1024 || unit === 'GiB')
      return number(bytes, bytes < 1024 ? 4 : 3) + ' ' + unit;
    bytes /= 1024;
  }
}

// Returns an element with |text|; |open| is called when a click or the keyboard chooses it.
function item(text, open, className) {
  return make('div', {class: 'item ' + (className || ''), tabindex: 0, onclick: open}, text);
}

function table(columns, rows, open) {
  const body = make('tbody');
  const fill = () => {
    body.replaceChildren(...rows.map(row => make('tr', open ? {class: 'link item', tabindex: 0, onclick: () => open(row)} : {},
      ...columns.map(c => make('td', {class: c.number ? 'number' : ''}, c.show ? c.show(row) : row[c.key] === undefined ? '' : row[c.key])))));
  };
  const head = make('tr', {}, ...columns.map(c => make('th', {class: c.number ? 'number' : '', onclick: () => {
    const value = row => c.value ? c.value(row) : row[c.key];
    c.down = !c.down;
    rows.sort((a, b) => {
      const x = value(a), y = value(b), order = x === y ? 0 : x === undefined ? -1 : y === undefined ? 1 : x < y ? -1 : 1;
      return c.down ? -order : order;
    });
    fill();
  }}, c.title)));
  fill();
  return make('table', {}, make('thead', {}, head), body);
}

// A view of many lines of text, with elements only for the lines near the visible part. |choose| is called with the
// index of a line that is clicked.
class Lines {
  constructor(choose) {
    this.spacer = make('div', {class: 'spacer'});
    this.element = make('div', {class: 'lines', tabindex: 0}, this.spacer);
    this.element.addEventListener('scroll', () => this.show());
    this.choose = choose;
    this.set([]);
    new ResizeObserver(() => this.show()).observe(this.element);
  }
  set(rows) {
    this.rows = rows;
    this.chosen = new Set();
    this.shown = new Map();
    this.spacer.replaceChildren();
    this.spacer.style.height = rows.length * 16 + 'px';
    this.element.scrollTop = 0;
    this.show();
  }
  show() {
    const first = Math.max(0, Math.floor(this.element.scrollTop / 16) - 10);
    const last = Math.min(this.rows.length, first + Math.ceil(this.element.clientHeight / 16) + 30);
    // Lines that stay visible keep their elements, because a click is lost if its element is removed before the mouse
    // button is released.
    for (const [i, element] of this.shown)
      if (i < first || i >= last) {
        element.remove();
        this.shown.delete(i);
      }
    let next = null;
    for (let i = last - 1; i >= first; --i) {
      let element = this.shown.get(i);
      if (!element) {
        element = make('div', {class: 'row ' + (this.rows[i].kind || ''), onclick: () => this.choose && this.choose(i)}, this.rows[i].text);
        element.style.top = i * 16 + 'px';
        this.spacer.insertBefore(element, next);
        this.shown.set(i, element);
      }
      element.classList.toggle('chosen', this.chosen.has(i));
      next = element;
    }
  }
  mark(indices, scroll) {
    this.chosen = new Set(indices);
    if (scroll && indices.length)
      this.element.scrollTop = Math.max(0, indices[0] * 16 - this.element.clientHeight / 3);
    this.show();
  }
}

// ---------------------------------------------------------------------------------------------- state

const views = [['model', 'Model'], ['kernels', 'Kernels'], ['ir', 'IR'], ['assembly', 'Assembly'], ['memory', 'Memory'],
               ['weights', 'Weights'], ['remarks', 'Remarks'], ['time', 'Time'], ['attention', 'Attention']];
let state = {view: 'model'};
let drawing = 0;

function readHash() {
  state = {view: 'model'};
  for (const part of location.hash.slice(1).split('&')) {
    const [key, value] = part.split('=');
    if (key)
      state[key] = decodeURIComponent(value || '');
  }
}

function go(change) {
  const next = Object.assign({}, state, change);
  location.hash = Object.entries(next).filter(([, value]) => value !== undefined && value !== '')
    .map(([key, value]) => key + '=' + encodeURIComponent(value)).join('&');
}

function matches(text) {
  const wanted = document.getElementById('search').value.toLowerCase();
  return !wanted || text.toLowerCase().includes(wanted);
}

function kernelRow(symbol) { return core.kernels.find(k => k.symbol === symbol); }

// ---------------------------------------------------------------------------------------------- views

function modules() {
  const paths = new Set();
  for (const thing of core.ops.concat(core.kernels))
    for (const pattern of thing.paths)
      for (const path of expand(pattern)) {
        const parts = path.split('.');
        for (let i = 1; i <= parts.length; ++i)
          paths.add(parts.slice(0, i).join('.'));
      }
  const order = text => text.replace(/\d+/g, n => n.padStart(6, '0'));
  return [...paths].sort((a, b) => order(a) < order(b) ? -1 : 1);
}

function remarkElement(remark) {
  return make('div', {class: 'item'}, make('span', {class: remark.kind}, remark.kind + ' '), remark.name + ': ' + remark.text,
              make('div', {class: 'dim'}, remark.phase + ', ' + remark.pass + (remark.function ? ', ' + remark.function : '') +
                                          (remark.paths.length ? ', ' + remark.paths.join(', ') : '')));
}

function showModel(main) {
  const tree = make('div', {class: 'column narrow', id: 'modules'}, make('h2', {}, 'Modules'));
  for (const path of modules().filter(matches)) {
    const element = item(path.split('.').pop(), () => go({module: path}), path === state.module ? 'chosen' : '');
    element.style.paddingLeft = 6 + 14 * (path.split('.').length - 1) + 'px';
    element.dataset.path = path;
    element.title = path;
    tree.append(element);
  }
  const right = make('div', {class: 'column', id: 'module'}, make('h2', {}, state.module || core.title));
  if (!state.module)
    for (const [key, value] of Object.entries(core.facts))
      right.append(make('div', {}, make('span', {class: 'dim'}, key + ': '), value));
  const kernels = core.kernels.filter(k => concerns(k.paths, state.module));
  const ops = core.ops.filter(o => concerns(o.paths, state.module));
  right.append(make('h2', {}, 'Operations'),
               table([{title: 'operation', key: 'op'}, {title: 'result', key: 'type'}, {title: 'function', key: 'function'},
                      {title: 'module', show: o => o.paths.join(', ')}], ops.slice(0, 500)),
               make('h2', {}, 'Kernels'), kernelTable(kernels), make('h2', {}, 'Remarks'),
               ...core.remarks.filter(r => r.name !== 'Buffer' && concerns(r.paths, state.module)).slice(0, 300).map(remarkElement));
  main.append(tree, right);
}

function kernelTable(kernels) {
  const element = table([
    {title: 'kernel', key: 'symbol'}, {title: 'module', show: k => k.paths.join(', ')}, {title: 'calls', key: 'calls', number: true},
    {title: 'ms', value: k => k.ms, show: k => number(k.ms), number: true},
    {title: 'GFLOP/s', value: k => k.gflops, show: k => number(k.gflops), number: true},
    {title: '% of roof', value: k => k.roof_fraction, show: k => k.roof_fraction === undefined ? '' : number(100 * k.roof_fraction), number: true},
    {title: 'bound', key: 'bound'}, {title: 'MFLOP', value: k => k.flops, show: k => number((k.flops || 0) / 1e6), number: true},
    {title: 'weights', value: k => k.weight_bytes, show: k => size(k.weight_bytes || 0), number: true}],
    kernels, k => go({view: 'kernels', kernel: k.symbol}));
  element.classList.add('kernel-table');
  return element;
}

// Draws the roofline of the machine and a circle for each kernel: GFLOP/s over FLOP per byte, both in logarithmic
// scales. The area of a circle grows with the kernel's time.
function roofline(kernels) {
  const machine = core.machine || {}, width = 900, height = 380, left = 60, bottom = 340;
  const points = kernels.filter(k => k.ms > 0 && k.flops > 0).map(k => ({
    kernel: k, x: k.flops / Math.max(1, (k.weight_bytes || 0) + (k.tensor_bytes || 0)), y: k.flops / k.ms / 1e6}));
  const svg = draw('svg', {viewBox: `0 0 ${width} ${height}`, id: 'roofline', role: 'img'}, 'Roofline');
  if (!points.length || !machine.gflops)
    return make('p', {id: 'roofline', class: 'dim'}, 'Give --run=FILE or --ids=N,N,... to measure kernels.');
  const bandwidth = machine.read_bytes_per_s / 1e9, peak = machine.gflops;
  const xs = points.map(p => p.x).concat([peak / bandwidth]), ys = points.map(p => p.y).concat([peak]);
  const x0 = Math.log10(Math.min(...xs)) - 0.3, x1 = Math.log10(Math.max(...xs)) + 0.3;
  const y0 = Math.log10(Math.min(...ys)) - 0.3, y1 = Math.log10(Math.max(...ys)) + 0.2;
  const X = x => left + (Math.log10(x) - x0) / (x1 - x0) * (width - left - 20);
  const Y = y => bottom - (Math.log10(y) - y0) / (y1 - y0) * (bottom - 20);
  const ridge = peak / bandwidth, low = Math.min(ridge, Math.max(10 ** x0, 10 ** y0 / bandwidth));
  svg.append(draw('path', {class: 'axis', d: `M${left} 20V${bottom}H${width - 20}`}),
             draw('path', {class: 'axis', 'stroke-width': 2, d: `M${X(low)} ${Y(low * bandwidth)}L${X(ridge)} ${Y(peak)}H${width - 20}`}));
  const label = (x, y, text) => { const element = draw('text', {x, y}); element.textContent = text; svg.append(element); };
  label(width / 2 - 60, height - 8, 'FLOP per byte');
  label(4, 14, 'GFLOP/s');
  label(X(ridge) + 8, Y(peak) - 6, `${number(peak)} GFLOP/s peak`);
  label(left + 8, Y(low * bandwidth) - 10, `${number(bandwidth)} GB/s`);
  for (let e = Math.ceil(x0); e <= x1; ++e)
    label(X(10 ** e), bottom + 14, String(10 ** e));
  for (let e = Math.ceil(y0); e <= y1; ++e)
    label(16, Y(10 ** e) + 4, String(10 ** e));
  const share = points.reduce((sum, p) => sum + p.kernel.ms, 0);
  for (const p of points) {
    const circle = draw('circle', {class: 'mark' + (p.kernel.symbol === state.kernel ? ' chosen' : ''), cx: X(p.x), cy: Y(p.y),
                                   r: 4 + 16 * Math.sqrt(p.kernel.ms / share), tabindex: 0},
                        `${p.kernel.symbol}: ${number(p.y)} GFLOP/s, ${number(p.kernel.ms)} ms`);
    circle.addEventListener('click', () => go({view: 'kernels', kernel: p.kernel.symbol}));
    svg.append(circle);
  }
  return svg;
}

function showKernels(main) {
  const column = make('div', {class: 'column'}, make('h2', {}, 'Roofline'), roofline(core.kernels),
                      make('h2', {}, 'Kernels'), kernelTable(core.kernels.filter(k => matches(k.symbol + ' ' + k.text))));
  main.append(column);
  const kernel = kernelRow(state.kernel);
  if (!kernel)
    return;
  main.append(make('div', {class: 'column', id: 'kernel'}, make('h2', {}, kernel.symbol),
    make('div', {class: 'dim'}, kernel.text),
    make('p', {}, make('button', {id: 'to-assembly', onclick: () => go({view: 'assembly', kernel: kernel.symbol})}, 'Assembly'), ' ',
         make('button', {onclick: () => go({view: 'ir', kernel: kernel.symbol})}, 'IR'), ' ',
         make('button', {onclick: () => go({view: 'memory', kernel: kernel.symbol})}, 'Memory')),
    make('h2', {}, 'Modules of the model'),
    ...kernel.paths.flatMap(expand).map(path => item(path, () => go({view: 'model', module: path}))),
    make('h2', {}, 'What was done, and what not'),
    ...kernel.remarks.map(i => core.remarks[i]).filter(r => r.name !== 'Buffer').map(remarkElement)));
}

// Returns the rows of a diff of two lists of lines, by the shortest edit script (Myers). If the texts differ too much
// for the search, all differing lines of |before| are followed by all of |after|.
function diff(before, after) {
  let start = 0, end = 0;
  while (start < before.length && start < after.length && before[start] === after[start])
    ++start;
  while (end < before.length - start && end < after.length - start && before[before.length - 1 - end] === after[after.length - 1 - end])
    ++end;
  const a = before.slice(start, before.length - end), b = after.slice(start, after.length - end);
  const rows = before.slice(0, start).map(text => ({text: '  ' + text}));
  const add = (text, kind) => rows.push({text: (kind === 'added' ? '+ ' : kind === 'removed' ? '- ' : '  ') + text, kind});
  const limit = Math.min(a.length + b.length, 600), traces = [];
  let found = -1;
  const frontier = new Map([[1, 0]]);
  for (let d = 0; d <= limit && found < 0; ++d) {
    traces.push(new Map(frontier));
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && frontier.get(k - 1) < frontier.get(k + 1)) ? frontier.get(k + 1) : frontier.get(k - 1) + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y])
        ++x, ++y;
      frontier.set(k, x);
      if (x >= a.length && y >= b.length) {
        found = d;
        break;
      }
    }
    if (traces.length > 400 && a.length * traces.length > 4e6)
      break;
  }
  if (found < 0) {
    a.forEach(text => add(text, 'removed'));
    b.forEach(text => add(text, 'added'));
  } else {
    const steps = [];
    let x = a.length, y = b.length;
    for (let d = found; d > 0; --d) {
      const old = traces[d], k = x - y;
      const from = k === -d || (k !== d && old.get(k - 1) < old.get(k + 1)) ? k + 1 : k - 1;
      const px = old.get(from), py = px - from;
      while (x > px && y > py)
        steps.push([a[--x]]), --y;
      if (from === k + 1)
        steps.push([b[--y], 'added']);
      else
        steps.push([a[--x], 'removed']);
    }
    while (x > 0 && y > 0)
      steps.push([a[--x]]), --y;
    steps.reverse().forEach(([text, kind]) => add(text, kind));
  }
  return rows.concat(before.slice(before.length - end).map(text => ({text: '  ' + text})));
}

async function showIr(main, turn) {
  const list = make('div', {class: 'column narrow', id: 'passes'}, make('h2', {}, 'Passes that changed something'));
  const code = new Lines(), bar = make('div', {class: 'bar dim'}, 'Choose a pass.');
  const changes = core.changes.map((c, index) => ({c, index})).filter(({c}) =>
    (!state.kernel || c.function === state.kernel) && matches(c.pass + ' ' + c.function + ' ' + c.phase));
  if (state.kernel)
    list.append(make('button', {onclick: () => go({kernel: undefined})}, 'All functions, not ' + state.kernel));
  let phase = '';
  for (const {c, index} of changes.slice(0, 2000)) {
    if (c.phase !== phase)
      list.append(make('h2', {}, phase = c.phase));
    list.append(item(c.pass + ' ', () => go({change: index}), String(index) === state.change ? 'chosen' : ''));
    list.lastChild.append(make('span', {class: 'dim'}, c.function));
  }
  main.append(list, make('div', {class: 'column code'}, bar, code.element));
  const change = core.changes[Number(state.change)];
  if (state.change === undefined || !change)
    return;
  const [before, after] = [await blobLines(change.before), await blobLines(change.after)];
  if (turn !== drawing)
    return;
  const rows = diff(before, after), changed = rows.findIndex(r => r.kind);
  bar.replaceChildren(`${change.phase}, ${change.pass}, ${change.function}: ${rows.filter(r => r.kind === 'added').length} lines added, ` +
                      `${rows.filter(r => r.kind === 'removed').length} removed`);
  code.set(rows);
  code.element.scrollTop = Math.max(0, changed * 16 - 80);
  code.show();
}

// Splits assembly into functions. Each row has the number of the source line that its instruction comes from, or 0.
function parseAssembly(text) {
  const functions = [];
  let current = null, line = 0;
  for (const row of text) {
    const label = /^([A-Za-z_][\w.$]*):/.exec(row);
    const place = /^\s*\.loc\s+\d+\s+(\d+)/.exec(row);
    if (label && !row.startsWith('.L')) {
      functions.push(current = {name: label[1], rows: []});
      line = 0;
    }
    if (place)
      line = Number(place[1]);
    else if (current && !/^\s*\.(cfi|file|loc|size|type|p2align|globl|section|byte|long|short|quad|ascii|asciz|uleb|sleb|ident|addrsig)|^\.Ltmp|^\.Lfunc|^\s*#/.test(row))
      current.rows.push({text: row.replace(/\t/g, '    '), line: /^\s/.test(row) ? line : 0});
  }
  return functions.filter(f => f.rows.some(r => r.line));
}

async function showAssembly(main, turn) {
  const [assembly, source] = [await blobLines(core.assembly), await blobLines(core.source)];
  if (turn !== drawing)
    return;
  const functions = parseAssembly(assembly);
  const ofKernel = functions.filter(f => !state.kernel || f.name === state.kernel || f.name.startsWith(state.kernel + '_parallel'));
  const rows = (ofKernel.length ? ofKernel : functions).flatMap(f => f.rows);
  const bar = make('div', {class: 'bar dim', id: 'provenance'}, 'Choose a line: its source, its instructions and its module are marked.');
  const select = make('select', {id: 'functions', 'aria-label': 'Kernel', onchange: e => go({kernel: e.target.value || undefined})},
    make('option', {value: ''}, 'all functions'), ...core.kernels.map(k => make('option', {value: k.symbol}, k.symbol)));
  select.value = state.kernel || '';
  const choose = (line, fromAssembly) => {
    if (!line)
      return;
    left.mark(rows.flatMap((row, i) => row.line === line ? [i] : []), !fromAssembly);
    right.mark([line - 1], fromAssembly);
    const paths = core.lines[line] === undefined ? '' : core.linePaths[core.lines[line]];
    bar.replaceChildren(`line ${line}: `, ...(paths ? paths.split(', ').map(p => make('button', {
      onclick: () => go({view: 'model', module: expand(p)[0]})}, p)) : ['no module of the model']));
  };
  const left = new Lines(i => choose(rows[i].line, true)), right = new Lines(i => choose(i + 1, false));
  main.append(make('div', {class: 'column code', id: 'assembly'}, make('div', {class: 'bar'}, select), left.element),
              make('div', {class: 'column code', id: 'source'}, bar, right.element));
  left.set(rows);
  right.set(source.map(text => ({text})));
  const first = rows.find(row => row.line);
  if (state.kernel && first)
    choose(first.line, true);
}

function showMemory(main) {
  const buffers = core.remarks.filter(r => r.name === 'Buffer' && r.details);
  const functions = [...new Set(buffers.map(b => b.function))];
  const chosen = state.kernel && functions.includes(state.kernel) ? state.kernel
               : functions.includes(state.function) ? state.function : core.entry && functions.includes(core.entry) ? core.entry : functions[0];
  const rows = buffers.filter(b => b.function === chosen).map(b => ({
    what: b.details.Buffer, bytes: Number(b.details.TypicalBytes), offset: Number(b.details.TypicalOffset), first: Number(b.details.First),
    last: Number(b.details.Last), slot: Number(b.details.Slot), paths: b.paths.join(', ')}));
  const end = Math.max(1, ...rows.map(r => r.offset + r.bytes)), from = Math.min(...rows.map(r => r.first)), to = Math.max(1, ...rows.map(r => r.last + 1));
  const svg = draw('svg', {viewBox: '0 0 900 360', id: 'memory'}, 'Buffers over time');
  const X = t => 40 + (t - from) / Math.max(1, to - from) * 840, Y = o => 330 - o / end * 310;
  for (const r of rows)
    svg.append(draw('rect', {class: 'mark', x: X(r.first), width: Math.max(2, X(r.last + 1) - X(r.first)), y: Y(r.offset + r.bytes),
                             height: Math.max(1, Y(r.offset) - Y(r.offset + r.bytes))}, `${r.what}: ${size(r.bytes)} at ${size(r.offset)}, ${r.paths}`));
  const label = draw('text', {x: 40, y: 350});
  label.textContent = `operations ${from} to ${to}; ${size(end)} in all, for dimensions of 64 and 8 workers`;
  svg.append(label);
  main.append(make('div', {class: 'column narrow'}, make('h2', {}, 'Functions'),
    ...functions.filter(matches).map(f => item(f, () => go({function: f, kernel: undefined}), f === chosen ? 'chosen' : ''))),
    make('div', {class: 'column'}, make('h2', {}, 'Memory plan of ' + (chosen || 'nothing')), svg,
      table([{title: 'buffer', key: 'what'}, {title: 'bytes', value: r => r.bytes, show: r => size(r.bytes), number: true},
             {title: 'offset', value: r => r.offset, show: r => size(r.offset), number: true}, {title: 'slot', key: 'slot', number: true},
             {title: 'first', key: 'first', number: true}, {title: 'last', key: 'last', number: true}, {title: 'module', key: 'paths'}], rows)));
}

function showWeights(main) {
  main.append(make('div', {class: 'column'}, make('h2', {}, 'Packed weights'),
    table([{title: 'name', key: 'name'}, {title: 'type', key: 'dtype'}, {title: 'shape', show: w => w.shape}, {title: 'layout', key: 'layout'},
           {title: 'bytes', value: w => w.bytes, show: w => size(w.bytes), number: true},
           {title: 'offset', key: 'offset', number: true}, {title: 'source', key: 'source'}], core.weights.filter(w => matches(w.name + w.source)))));
}

function showRemarks(main) {
  const kinds = state.kind ? [state.kind] : ['passed', 'missed', 'analysis'];
  const buttons = ['', 'missed', 'passed', 'analysis'].map(kind =>
    make('button', {'aria-current': (state.kind || '') === kind, onclick: () => go({kind})}, kind || 'all'));
  main.append(make('div', {class: 'column'}, make('h2', {}, 'What passes did and did not do'), make('p', {}, ...buttons),
    ...core.remarks.filter(r => kinds.includes(r.kind) && r.name !== 'Buffer' && matches([r.text, r.name, r.pass, r.function, r.kernel, ...r.paths].join(' ')))
      .slice(0, 1000).map(remarkElement)));
}

function showTime(main) {
  const passes = new Map();
  for (const t of core.times) {
    const key = t.phase + ' ' + t.pass, row = passes.get(key) || {phase: t.phase, pass: t.pass, seconds: 0, runs: 0};
    row.seconds += t.seconds, row.runs += 1;
    passes.set(key, row);
  }
  main.append(make('div', {class: 'column'}, make('h2', {}, 'Compile time of passes, without packing and LLVM'),
    table([{title: 'phase', key: 'phase'}, {title: 'pass', key: 'pass'}, {title: 'runs', key: 'runs', number: true},
           {title: 'ms', value: t => t.seconds, show: t => number(1000 * t.seconds), number: true}],
          [...passes.values()].filter(t => matches(t.pass + t.phase)).sort((a, b) => b.seconds - a.seconds))));
}

async function showAttention(main, turn) {
  if (!core.attention.length) {
    main.append(make('div', {class: 'column', id: 'attention'}, make('p', {class: 'dim'}, 'Give --run=FILE or --ids=N,N,... to see attention probabilities.')));
    return;
  }
  const layer = Math.min(Number(state.layer || 0), core.attention.length - 1), a = core.attention[layer];
  const head = Math.min(Number(state.head || 0), a.heads - 1), bytes = await blobBytes(a.blob);
  if (turn !== drawing)
    return;
  const scale = Math.max(1, Math.floor(Math.min(640 / a.rows, 640 / a.columns))), note = make('p', {id: 'attention-note'}, ' ');
  const token = i => core.tokens[i] === undefined ? String(i) : core.tokens[i];
  const paint = (canvas, which) => {
    canvas.width = a.columns, canvas.height = a.rows;
    const context = canvas.getContext('2d'), image = context.createImageData(a.columns, a.rows);
    for (let i = 0; i < a.rows * a.columns; ++i) {
      const p = bytes[which * a.rows * a.columns + i];
      image.data.set([11 + p * 0.9, 40 + p * 0.75, 90 + p * 0.3, 255], 4 * i);
    }
    context.putImageData(image, 0, 0);
    return canvas;
  };
  const large = paint(make('canvas', {id: 'attention-map'}), head);
  large.style.width = a.columns * scale + 'px';
  const tell = event => {
    const box = large.getBoundingClientRect();
    const q = Math.floor((event.clientY - box.top) / box.height * a.rows), k = Math.floor((event.clientX - box.left) / box.width * a.columns);
    const p = bytes[(head * a.rows + q) * a.columns + k];
    if (p !== undefined)
      note.textContent = `${q} "${token(q)}" looks at ${k} "${token(k)}": ${number(p / 255)}`;
  };
  large.addEventListener('mousemove', tell);
  large.addEventListener('click', tell);
  const heads = make('div', {}, ...Array.from({length: a.heads}, (_, h) => {
    const canvas = paint(make('canvas', {tabindex: 0, class: 'item' + (h === head ? ' chosen' : ''), title: 'head ' + h, onclick: () => go({head: h})}), h);
    canvas.style.width = '72px';
    return canvas;
  }));
  main.append(make('div', {class: 'column narrow'}, make('h2', {}, 'Layers'),
    ...core.attention.map((x, i) => item(x.name, () => go({layer: i, head: 0}), i === layer ? 'chosen' : ''))),
    make('div', {class: 'column', id: 'attention'}, make('h2', {}, `${a.name}, head ${head}: queries down, keys across`), heads, large, note,
         make('p', {class: 'dim'}, a.whole ? '' : `The first ${a.rows} queries and ${a.columns} keys.`)));
}

const shows = {model: showModel, kernels: showKernels, ir: showIr, assembly: showAssembly, memory: showMemory, weights: showWeights,
               remarks: showRemarks, time: showTime, attention: showAttention};

// ---------------------------------------------------------------------------------------------- page

async function show() {
  readHash();
  const main = document.getElementById('main'), turn = ++drawing;
  document.getElementById('tabs').replaceChildren(...views.map(([id, title], i) => make('button', {
    id: 'tab-' + id, 'aria-current': state.view === id, title: 'Key ' + (i + 1), onclick: () => go({view: id})}, title)));
  main.replaceChildren();
  await (shows[state.view] || showModel)(main, turn);
  // The user may have opened another view while this one waited for its data.
  if (turn !== drawing)
    return;
  const chosen = main.querySelector('.item.chosen');
  if (chosen)
    chosen.scrollIntoView({block: 'nearest'});
  document.body.dataset.shown = state.view;
}

function moveFocus(step) {
  const items = [...document.querySelectorAll('main .item')];
  const now = items.indexOf(document.activeElement);
  const start = now >= 0 ? now + step : items.findIndex(i => i.classList.contains('chosen')) + (step > 0 ? 1 : 0);
  const next = items[Math.max(0, Math.min(items.length - 1, start))];
  if (next)
    next.focus();
}

addEventListener('keydown', event => {
  const search = document.getElementById('search');
  if (event.target === search) {
    if (event.key === 'Escape' || event.key === 'Enter')
      search.blur();
    return;
  }
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.tagName === 'SELECT')
    return;
  const view = views[Number(event.key) - 1], isList = !event.target.classList || !event.target.classList.contains('lines');
  if (view)
    go({view: view[0]});
  else if (event.key === '/')
    search.focus();
  else if (event.key === 'Backspace')
    history.back();
  else if (isList && (event.key === 'j' || event.key === 'ArrowDown'))
    moveFocus(1);
  else if (isList && (event.key === 'k' || event.key === 'ArrowUp'))
    moveFocus(-1);
  else if (event.key === 'Enter')
    event.target.dispatchEvent(new MouseEvent('click', {bubbles: true}));
  else
    return;
  event.preventDefault();
});
addEventListener('hashchange', show);
document.getElementById('search').addEventListener('input', show);

(async () => {
  core = JSON.parse(new TextDecoder().decode(await unpack(document.getElementById('core').textContent)));
  document.title = 'Attune: ' + core.title;
  document.getElementById('title').textContent = core.title;
  await show();
})();
