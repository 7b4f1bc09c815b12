// An editor of JSON, of the parts of CodeMirror that it needs. It is mounted in a shadow root, since CodeMirror then
// makes its styles with constructed stylesheets, which the policy of the pages lets in. Colours are the page's.
import { closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json, jsonParseLinter } from '@codemirror/lang-json'
import {
  bracketMatching, foldGutter, foldKeymap, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting,
} from '@codemirror/language'
import { lintGutter, linter, lintKeymap } from '@codemirror/lint'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { EditorState } from '@codemirror/state'
import {
  drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--link)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--past)' },
])

const theme = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--paper)', border: '1px solid #7e8b88', borderRadius: '6px' },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '1px' },
  '.cm-scroller': {
    font: '.9rem/1.5 ui-monospace, "Cascadia Code", Menlo, "DejaVu Sans Mono", monospace', maxHeight: '38rem',
    minHeight: '8rem', overflow: 'auto',
  },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--row)', color: 'var(--quiet)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--row) 60%, transparent)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--link) 28%, transparent) !important',
  },
  '.cm-matchingBracket': { backgroundColor: 'var(--past-ground)', outline: '1px solid var(--past)' },
  '.cm-panels, .cm-tooltip': { backgroundColor: 'var(--paper)', color: 'var(--ink)', borderColor: 'var(--line)' },
  '.cm-panels input, .cm-panels button': { color: 'var(--ink)', backgroundColor: 'var(--paper)', backgroundImage: 'none' },
  '.cm-specialChar': { color: 'var(--bad)' },
  // Its own marks are pictures in the stylesheet, which the policy of the pages does not let in.
  '.cm-lint-marker-error, .cm-lint-marker-warning, .cm-lint-marker-info': { content: 'normal', color: 'var(--bad)' },
  '.cm-lint-marker:before': { content: '"✖"', lineHeight: '1' },
  '.cm-lintRange-error, .cm-lintRange-warning, .cm-lintRange-info, .cm-lintRange-hint': {
    backgroundImage: 'none', textDecoration: 'underline wavy var(--bad)',
  },
})

/// Makes one. `changed` is told the text after each change, `save` is what Ctrl+S does.
export function edit({ root, text, label, changed, save }) {
  const keys = [
    { key: 'Mod-s', run: () => (save(), true) }, { key: 'Mod-Enter', run: () => (save(), true) },
    ...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...lintKeymap,
  ]
  const extensions = [
    lineNumbers(), highlightActiveLineGutter(), highlightSpecialChars(), history(), foldGutter(), drawSelection(),
    indentOnInput(), bracketMatching(), closeBrackets(), highlightActiveLine(), highlightSelectionMatches(),
    search({ top: true }), indentUnit.of('  '), EditorView.lineWrapping, syntaxHighlighting(colours), theme, json(),
    lintGutter(), linter(jsonParseLinter()), keymap.of(keys),
    EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
    EditorView.updateListener.of((update) => update.docChanged && changed(update.state.doc.toString())),
  ]
  const state = EditorState.create({ doc: text, extensions })
  return new EditorView({ state, parent: root, root })
}
