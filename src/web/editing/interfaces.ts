/* The interfaces and displays of Directus, with the options that each has. */
import { memberText } from './members.js';

export interface InterfaceOption {
  name: string;
  label: string;
  /** `choices` is a list of values with texts. */
  kind: 'text' | 'number' | 'flag' | 'words' | 'choices' | 'icon' | 'color' | 'json' | readonly string[];
  /** True if a flag is on by default. */
  isOn?: boolean;
}

export interface InterfaceDescription {
  label: string;
  options: readonly InterfaceOption[];
}

type Kind = InterfaceOption['kind'];

const option = (name: string, label: string, kind: Kind = 'text'): InterfaceOption => ({
  name,
  label: memberText(label),
  kind,
});

const flagThatIsOn = (name: string, label: string): InterfaceOption => ({
  ...option(name, label, 'flag'),
  isOn: true,
});

const PLACEHOLDER = option('placeholder', 'Placeholder');
const ICONS = [option('iconLeft', 'Icon on the left', 'icon'), option('iconRight', 'Icon on the right', 'icon')];
const FONT = option('font', 'Font', ['sans-serif', 'serif', 'monospace']);
const SOFT_LENGTH = option('softLength', 'Suggested maximum length', 'number');
const TRIM = option('trim', 'Trim spaces at both ends', 'flag');
const CLEAR = option('clear', 'Store an empty value as empty text instead of null', 'flag');
const MASKED = option('masked', 'Hide the value', 'flag');
const CHOICES = option('choices', 'Choices', 'choices');
const OTHER = option('allowOther', 'Allow other values', 'flag');
const NONE = option('allowNone', 'Allow no value', 'flag');
const ICON = option('icon', 'Icon', 'icon');
const COLOR = option('color', 'Color', 'color');
const TEMPLATE = option('template', 'Item template');
const FOLDER = option('folder', 'Upload folder');
const CREATE = flagThatIsOn('enableCreate', 'Allow new items');
const SELECT = flagThatIsOn('enableSelect', 'Allow existing items');
const LINK = option('enableLink', 'Show a link to the item', 'flag');
const LIMIT = option('limit', 'Items per page', 'number');
const LAYOUT = option('layout', 'Layout', ['list', 'table']);
const FIELDS = option('fields', 'Table columns', 'words');
const FILTER = option('filter', 'Filter', 'json');
const SECONDS = option('includeSeconds', 'Show seconds', 'flag');
const HOURS = flagThatIsOn('use24', '24 hours');
const CIRCLE = option('circle', 'Show as a circle', 'flag');
const LANGUAGE_FIELD = option('languageField', 'Language name field');
const USER_LANGUAGE = option('userLanguage', 'Start with the language of the user', 'flag');
const DEFAULT_LANGUAGE = option('defaultLanguage', 'Default language');
const SWITCH_ICONS = [option('iconOn', 'Icon if on', 'icon'), option('iconOff', 'Icon if off', 'icon')];
const SWITCH_COLORS = [option('colorOn', 'Color if on', 'color'), option('colorOff', 'Color if off', 'color')];

const described = (label: string, ...options: readonly InterfaceOption[]): InterfaceDescription => ({
  label: memberText(label),
  options,
});

export const INTERFACES: Readonly<Record<string, InterfaceDescription>> = {
  input: described(
    'Text or number',
    PLACEHOLDER,
    ...ICONS,
    FONT,
    SOFT_LENGTH,
    TRIM,
    MASKED,
    CLEAR,
    option('slug', 'Make it suitable for URLs', 'flag'),
    option('min', 'Minimum', 'number'),
    option('max', 'Maximum', 'number'),
    option('step', 'Step', 'number'),
  ),
  'input-multiline': described('Multi-line text', PLACEHOLDER, FONT, SOFT_LENGTH, TRIM, CLEAR),
  'input-rich-text-html': described(
    'Rich text (HTML)',
    option('toolbar', 'Toolbar', 'words'),
    FONT,
    SOFT_LENGTH,
    FOLDER,
  ),
  'input-rich-text-md': described(
    'Markdown',
    PLACEHOLDER,
    option('toolbar', 'Toolbar', 'words'),
    option('defaultView', 'First view', ['editor', 'preview']),
    option('editorFont', 'Editor font', ['sans-serif', 'serif', 'monospace']),
    option('previewFont', 'Preview font', ['sans-serif', 'serif', 'monospace']),
    SOFT_LENGTH,
    FOLDER,
  ),
  'input-code': described(
    'Code',
    option('language', 'Language'),
    flagThatIsOn('lineNumber', 'Show line numbers'),
    option('lineWrapping', 'Wrap long lines', 'flag'),
    option('template', 'First content'),
  ),
  'input-hash': described('Hash', PLACEHOLDER, MASKED),
  'input-autocomplete-api': described(
    'Suggestions from another server',
    option('url', 'Address'),
    option('resultsPath', 'Path to the list'),
    option('textPath', 'Path to the text'),
    option('valuePath', 'Path to the value'),
    option('trigger', 'Trigger', ['debounce', 'throttle']),
    option('rate', 'Milliseconds between requests', 'number'),
    PLACEHOLDER,
    ...ICONS,
    FONT,
  ),
  boolean: described('Checkbox', option('label', 'Label'), ...SWITCH_ICONS, ...SWITCH_COLORS),
  datetime: described('Date and time', SECONDS, HOURS),
  numeric: described('Number', PLACEHOLDER),
  slider: described(
    'Slider',
    option('minValue', 'Minimum', 'number'),
    option('maxValue', 'Maximum', 'number'),
    option('stepInterval', 'Step', 'number'),
    option('alwaysShowValue', 'Always show the value', 'flag'),
  ),
  tags: described(
    'Tags',
    PLACEHOLDER,
    option('presets', 'Suggestions', 'words'),
    flagThatIsOn('allowCustom', 'Allow other tags'),
    option('alphabetize', 'Sort by name', 'flag'),
    option('capitalization', 'Capitalization', ['uppercase', 'lowercase', 'auto-format']),
    option('whitespace', 'Replace spaces with', ['', '-', '_']),
    ...ICONS,
  ),
  list: described('List of objects', TEMPLATE, option('addLabel', 'Button label'), option('fields', 'Fields', 'json')),
  map: described('Map', option('defaultView', 'First view', 'json')),
  'select-color': described(
    'Color',
    option('opacity', 'Allow transparency', 'flag'),
    option('presets', 'Presets', 'json'),
  ),
  'select-dropdown': described('Dropdown', CHOICES, PLACEHOLDER, OTHER, NONE, ICON),
  'select-icon': described('Icon'),
  'select-multiple-checkbox': described(
    'Checkboxes',
    CHOICES,
    OTHER,
    COLOR,
    option('itemsShown', 'Choices shown initially', 'number'),
  ),
  'select-multiple-dropdown': described('Dropdown with several values', CHOICES, PLACEHOLDER, OTHER, NONE, ICON),
  'select-radio': described('Radio buttons', CHOICES, OTHER, COLOR, ...SWITCH_ICONS),
  file: described('File', FOLDER, FILTER),
  'file-image': described(
    'Image',
    FOLDER,
    flagThatIsOn('crop', 'Crop to fit'),
    option('letterbox', 'Fit inside', 'flag'),
  ),
  files: described('Files', TEMPLATE, FOLDER, CREATE, SELECT, LIMIT),
  'select-dropdown-m2o': described('One item', TEMPLATE, CREATE, SELECT, LINK, FILTER),
  'list-o2m': described('Items that reference this one', LAYOUT, TEMPLATE, FIELDS, CREATE, SELECT, LINK, LIMIT, FILTER),
  'list-m2m': described(
    'Items through a junction',
    LAYOUT,
    TEMPLATE,
    FIELDS,
    CREATE,
    SELECT,
    LINK,
    LIMIT,
    option('allowDuplicates', 'Allow duplicates', 'flag'),
    FILTER,
  ),
  'list-m2a': described(
    'Items from any collection',
    option('prefix', 'Prefix'),
    CREATE,
    SELECT,
    LIMIT,
    option('allowDuplicates', 'Allow duplicates', 'flag'),
  ),
  translations: described('Translations', LANGUAGE_FIELD, DEFAULT_LANGUAGE, USER_LANGUAGE),
  'presentation-divider': described(
    'Divider',
    option('title', 'Title'),
    ICON,
    COLOR,
    option('inlineTitle', 'Title on the line', 'flag'),
    option('marginTop', 'More space above', 'flag'),
  ),
  'presentation-links': described('Buttons with links', option('links', 'Links', 'json')),
  'presentation-notice': described(
    'Notice',
    option('text', 'Text'),
    option('color', 'Kind', ['normal', 'info', 'success', 'warning', 'danger']),
    ICON,
  ),
  'group-accordion': described(
    'Accordion group',
    option('accordionMode', 'Open only one section at a time', 'flag'),
    option('start', 'At first', ['opened', 'first', 'closed']),
  ),
  'group-detail': described(
    'Collapsible group',
    option('start', 'At first', ['open', 'closed']),
    option('headerIcon', 'Icon', 'icon'),
    option('headerColor', 'Color', 'color'),
  ),
  'group-raw': described('Group without a border'),
};

export const DISPLAYS: Readonly<Record<string, InterfaceDescription>> = {
  raw: described('As stored'),
  'formatted-value': described(
    'Formatted value',
    option('format', 'Format automatically', 'flag'),
    option('prefix', 'Prefix'),
    option('suffix', 'Suffix'),
    option('bold', 'Bold', 'flag'),
    option('italic', 'Italic', 'flag'),
    FONT,
    COLOR,
    option('background', 'Background', 'color'),
    option('border', 'Border', 'flag'),
    ICON,
    MASKED,
  ),
  'formatted-json-value': described('Formatted JSON', option('format', 'Template')),
  boolean: described(
    'Yes or no',
    option('labelOn', 'Label if on'),
    option('labelOff', 'Label if off'),
    ...SWITCH_ICONS,
    ...SWITCH_COLORS,
  ),
  color: described('Color', option('defaultColor', 'Default color', 'color')),
  collection: described('Collection name', option('icon', 'Show the icon', 'flag')),
  datetime: described(
    'Date and time',
    option('relative', 'Relative to now', 'flag'),
    option('format', 'Format', ['long', 'short']),
    flagThatIsOn('suffix', 'Words such as "ago"'),
    SECONDS,
    HOURS,
  ),
  file: described('File'),
  filesize: described('File size'),
  icon: described('Icon', option('filled', 'Filled', 'flag'), COLOR),
  image: described('Image', CIRCLE),
  labels: described(
    'Labels',
    CHOICES,
    option('format', 'Format automatically', 'flag'),
    option('showAsDot', 'Dots', 'flag'),
  ),
  'mime-type': described('Media type', option('showAsExtension', 'Show the file extension', 'flag')),
  rating: described('Stars', option('simple', 'Show a number', 'flag')),
  'related-values': described('Values of related items', option('template', 'Template')),
  translations: described(
    'Translations',
    option('template', 'Template'),
    LANGUAGE_FIELD,
    DEFAULT_LANGUAGE,
    USER_LANGUAGE,
  ),
  user: described('User', option('display', 'Show', ['avatar', 'name', 'both']), CIRCLE),
};
