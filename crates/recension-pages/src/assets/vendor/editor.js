/* CodeMirror and Lezer, MIT licence: licences.txt */
var tr=[],Gl=[];(()=>{let n="lc,34,7n,7,7b,19,,,,2,,2,,,20,b,1c,l,g,,2t,7,2,6,2,2,,4,z,,u,r,2j,b,1m,9,9,,o,4,,\
9,,3,,5,17,3,1n,9,16,o,,x,1i,3,,i,,7,a,2,t,3,1k,,,7,2,2,2,3,9,,a,2,q,,2,3,1k,,,5,4,2,2,3,3,,u,2,3,,b,3,1k,,,8,\
,3,,3,k,2,m,6,,3,1k,,,7,2,2,2,3,7,3,a,2,u,,1n,5,3,3,,4,9,,14,5,1j,,,7,,3,,4,7,2,b,2,t,3,1k,,,7,,3,,4,7,2,b,2,f\
,,c,4,1j,2,,7,,3,,4,9,,a,2,t,3,1y,,4,6,,,,8,i,2,1p,,,8,c,8,2q,,,a,b,7,21,2,r,,,,,,4,2,1d,k,,2,5,b,,10,9,,2u,b,\
,6,n,4,4,3,g,4,d,,,3,6,,f,,jj,3,qa,4,s,3,t,2,u,2,1s,w,9,,19,3,,,39,2,y,,3a,c,4,c,63,5,1l,a,,,,,2,o,2,,1c,1a,2,\
c,k,5,1b,h,12,9,c,3,u,d,1k,e,1c,k,48,3,,l,4,,6,,2,3,5i,1s,ek,,5f,x,2da,3,3x,,2o,w,fe,6,2x,2,n9w,4,,a,w,2,28,2,\
7k,,3,,4,,n,5,4,,2b,2,1e,i,q,i,d,,12,8,p,d,18,4,1b,e,10,,1v,e,c,,8,2,1a,,1f,,,3,2,2,5,2,,,15,5,5,2,6k,8,,2,fn4\
,,kh,g,g,g,a6,2,gt,,6a,,45,5,1ae,3,,2,5,4,14,3,4,,4l,2,fx,4,1t,5,8t,2,25,6,1y,b,1d,4,3e,3,1h,f,15,,2,2,a,4,19,\
b,7,,1p,3,10,e,g,2,18,,c,3,1c,e,8,4,,2,2k,c,6,,2,,4d,c,l,4,1j,2,,7,2,2,2,3,9,,a,2,2,7,3,5,1v,9,,,2,,,4,,5,,,e,\
2,2a,i,n,,29,k,6j,7,2,9,r,2,2a,h,2y,d,2t,3,2,a,74,f,6t,6,,2,2,4,,,,2,3x,7,2,7,3,,s,a,14,7,,4,8,,9,b,1a,g,5i,8,\
5j,8,,8,2a,m,,e,3e,6,3,,,2,,7,,,1u,5,,2,,5,9n,4,9,2,,,1c,7,3,5,n,,44l,,6,f,8ug,i,1xc,5,1n,7,t4,,,1j,7,4,29,,b,\
2,f57,2,3mp,1a,2,n,f2,5,3,6,8,8,2,7,u,4,44,3,1iz,1j,4,1e,8,,e,,m,5,,f,11s,7,,h,2,7,,2,,5,2s,,4g,7,af,,1p,4,e4,\
4,72,2,6r,,2,,7,2,5,,d6,7,31,7,240,5".split(",").map(e=>e?parseInt(e,36):1);for(let e=0,t=0;e<n.length;e++)(e%
2?Gl:tr).push(t=t+n[e])})();function Ru(n){if(n<768)return!1;for(let e=0,t=tr.length;;){let i=e+t>>1;if(n<tr[i])
t=i;else if(n>=Gl[i])e=i+1;else return!0;if(e==t)return!1}}function Kl(n){return n>=127462&&n<=127487}var jl=8205;function _l(n,e,t=!0,i=!0){return(t?Yl:Bu)(n,e,i)}function Yl(n,e,t){if(e==n.length)return e;e&&Xl(
n.charCodeAt(e))&&Ql(n.charCodeAt(e-1))&&e--;let i=er(n,e);for(e+=Ul(i);e<n.length;){let s=er(n,e);if(i==jl||s==
jl||t&&Ru(s))e+=Ul(s),i=s;else if(Kl(s)){let r=0,o=e-2;for(;o>=0&&Kl(er(n,o));)r++,o-=2;if(r%2==0)break;e+=2}else
break}return e}function Bu(n,e,t){for(;e>1;){let i=Yl(n,e-2,t);if(i<e)return i;e--}return 0}function er(n,e){let t=n.
charCodeAt(e);if(!Ql(t)||e+1==n.length)return t;let i=n.charCodeAt(e+1);return Xl(i)?(t-55296<<10)+(i-56320)+65536:
t}function Xl(n){return n>=56320&&n<57344}function Ql(n){return n>=55296&&n<56320}function Ul(n){return n<65536?
1:2}var F=class n{lineAt(e){if(e<0||e>this.length)throw new RangeError(`Invalid position ${e} in document of lengt\
h ${this.length}`);return this.lineInner(e,!1,1,0)}line(e){if(e<1||e>this.lines)throw new RangeError(`Invalid \
line number ${e} in ${this.lines}-line document`);return this.lineInner(e,!0,1,0)}replace(e,t,i){[e,t]=ti(this,
e,t);let s=[];return this.decompose(0,e,s,2),i.length&&i.decompose(0,i.length,s,3),this.decompose(t,this.length,
s,1),Jt.from(s,this.length-(t-e)+i.length)}append(e){return this.replace(this.length,this.length,e)}slice(e,t=this.
length){[e,t]=ti(this,e,t);let i=[];return this.decompose(e,t,i,0),Jt.from(i,t-e)}eq(e){if(e==this)return!0;if(e.
length!=this.length||e.lines!=this.lines)return!1;let t=this.scanIdentical(e,1),i=this.length-this.scanIdentical(
e,-1),s=new Rt(this),r=new Rt(e);for(let o=t,l=t;;){if(s.next(o),r.next(o),o=0,s.lineBreak!=r.lineBreak||s.done!=
r.done||s.value!=r.value)return!1;if(l+=s.value.length,s.done||l>=i)return!0}}iter(e=1){return new Rt(this,e)}iterRange(e,t=this.
length){return new wn(this,e,t)}iterLines(e,t){let i;if(e==null)i=this.iter();else{t==null&&(t=this.lines+1);let s=this.
line(e).from;i=this.iterRange(s,Math.max(s,t==this.lines+1?this.length:t<=1?0:this.line(t-1).to))}return new kn(
i)}toString(){return this.sliceString(0)}toJSON(){let e=[];return this.flatten(e),e}constructor(){}static of(e){
if(e.length==0)throw new RangeError("A document must have at least one line");return e.length==1&&!e[0]?n.empty:
e.length<=32?new Se(e):Jt.from(Se.split(e,[]))}},Se=class n extends F{constructor(e,t=Lu(e)){super(),this.text=
e,this.length=t}get lines(){return this.text.length}get children(){return null}lineInner(e,t,i,s){for(let r=0;;r++){
let o=this.text[r],l=s+o.length;if((t?i:l)>=e)return new nr(s,l,i,o);s=l+1,i++}}decompose(e,t,i,s){let r=e<=0&&
t>=this.length?this:new n(Jl(this.text,e,t),Math.min(t,this.length)-Math.max(0,e));if(s&1){let o=i.pop(),l=xn(
r.text,o.text.slice(),0,r.length);if(l.length<=32)i.push(new n(l,o.length+r.length));else{let a=l.length>>1;i.
push(new n(l.slice(0,a)),new n(l.slice(a)))}}else i.push(r)}replace(e,t,i){if(!(i instanceof n))return super.replace(
e,t,i);[e,t]=ti(this,e,t);let s=xn(this.text,xn(i.text,Jl(this.text,0,e)),t),r=this.length+i.length-(t-e);return s.
length<=32?new n(s,r):Jt.from(n.split(s,[]),r)}sliceString(e,t=this.length,i=`
`){[e,t]=ti(this,e,t);let s="";for(let r=0,o=0;r<=t&&o<this.text.length;o++){let l=this.text[o],a=r+l.length;r>
e&&o&&(s+=i),e<a&&t>r&&(s+=l.slice(Math.max(0,e-r),t-r)),r=a+1}return s}flatten(e){for(let t of this.text)e.push(
t)}scanIdentical(){return 0}static split(e,t){let i=[],s=-1;for(let r of e)i.push(r),s+=r.length+1,i.length==32&&
(t.push(new n(i,s)),i=[],s=-1);return s>-1&&t.push(new n(i,s)),t}},Jt=class n extends F{constructor(e,t){super(),
this.children=e,this.length=t,this.lines=0;for(let i of e)this.lines+=i.lines}lineInner(e,t,i,s){for(let r=0;;r++){
let o=this.children[r],l=s+o.length,a=i+o.lines-1;if((t?a:l)>=e)return o.lineInner(e,t,i,s);s=l+1,i=a+1}}decompose(e,t,i,s){
for(let r=0,o=0;o<=t&&r<this.children.length;r++){let l=this.children[r],a=o+l.length;if(e<=a&&t>=o){let h=s&((o<=
e?1:0)|(a>=t?2:0));o>=e&&a<=t&&!h?i.push(l):l.decompose(e-o,t-o,i,h)}o=a+1}}replace(e,t,i){if([e,t]=ti(this,e,
t),i.lines<this.lines)for(let s=0,r=0;s<this.children.length;s++){let o=this.children[s],l=r+o.length;if(e>=r&&
t<=l){let a=o.replace(e-r,t-r,i),h=this.lines-o.lines+a.lines;if(a.lines<h>>4&&a.lines>h>>6){let c=this.children.
slice();return c[s]=a,new n(c,this.length-(t-e)+i.length)}return super.replace(r,l,a)}r=l+1}return super.replace(
e,t,i)}sliceString(e,t=this.length,i=`
`){[e,t]=ti(this,e,t);let s="";for(let r=0,o=0;r<this.children.length&&o<=t;r++){let l=this.children[r],a=o+l.
length;o>e&&r&&(s+=i),e<a&&t>o&&(s+=l.sliceString(e-o,t-o,i)),o=a+1}return s}flatten(e){for(let t of this.children)
t.flatten(e)}scanIdentical(e,t){if(!(e instanceof n))return 0;let i=0,[s,r,o,l]=t>0?[0,0,this.children.length,
e.children.length]:[this.children.length-1,e.children.length-1,-1,-1];for(;;s+=t,r+=t){if(s==o||r==l)return i;
let a=this.children[s],h=e.children[r];if(a!=h)return i+a.scanIdentical(h,t);i+=a.length+1}}static from(e,t=e.
reduce((i,s)=>i+s.length+1,-1)){let i=0;for(let d of e)i+=d.lines;if(i<32){let d=[];for(let p of e)p.flatten(d);
return new Se(d,t)}let s=Math.max(32,i>>5),r=s<<1,o=s>>1,l=[],a=0,h=-1,c=[];function f(d){let p;if(d.lines>r&&
d instanceof n)for(let m of d.children)f(m);else d.lines>o&&(a>o||!a)?(u(),l.push(d)):d instanceof Se&&a&&(p=c[c.
length-1])instanceof Se&&d.lines+p.lines<=32?(a+=d.lines,h+=d.length+1,c[c.length-1]=new Se(p.text.concat(d.text),
p.length+1+d.length)):(a+d.lines>s&&u(),a+=d.lines,h+=d.length+1,c.push(d))}function u(){a!=0&&(l.push(c.length==
1?c[0]:n.from(c,h)),h=-1,a=c.length=0)}for(let d of e)f(d);return u(),l.length==1?l[0]:new n(l,t)}};F.empty=new Se(
[""],0);function Lu(n){let e=-1;for(let t of n)e+=t.length+1;return e}function xn(n,e,t=0,i=1e9){for(let s=0,r=0,
o=!0;r<n.length&&s<=i;r++){let l=n[r],a=s+l.length;a>=t&&(a>i&&(l=l.slice(0,i-s)),s<t&&(l=l.slice(t-s)),o?(e[e.
length-1]+=l,o=!1):e.push(l)),s=a+1}return e}function Jl(n,e,t){return xn(n,[""],e,t)}var Rt=class{constructor(e,t=1){
this.dir=t,this.done=!1,this.lineBreak=!1,this.value="",this.nodes=[e],this.offsets=[t>0?1:(e instanceof Se?e.
text.length:e.children.length)<<1]}nextInner(e,t){for(this.done=this.lineBreak=!1;;){let i=this.nodes.length-1,
s=this.nodes[i],r=this.offsets[i],o=r>>1,l=s instanceof Se?s.text.length:s.children.length;if(o==(t>0?l:0)){if(i==
0)return this.done=!0,this.value="",this;t>0&&this.offsets[i-1]++,this.nodes.pop(),this.offsets.pop()}else if((r&
1)==(t>0?0:1)){if(this.offsets[i]+=t,e==0)return this.lineBreak=!0,this.value=`
`,this;e--}else if(s instanceof Se){let a=s.text[o+(t<0?-1:0)];if(this.offsets[i]+=t,a.length>Math.max(0,e))return this.
value=e==0?a:t>0?a.slice(e):a.slice(0,a.length-e),this;e-=a.length}else{let a=s.children[o+(t<0?-1:0)];e>a.length?
(e-=a.length,this.offsets[i]+=t):(t<0&&this.offsets[i]--,this.nodes.push(a),this.offsets.push(t>0?1:(a instanceof
Se?a.text.length:a.children.length)<<1))}}}next(e=0){return e<0&&(this.nextInner(-e,-this.dir),e=this.value.length),
this.nextInner(e,this.dir)}},wn=class{constructor(e,t,i){this.value="",this.done=!1,this.cursor=new Rt(e,t>i?-1:
1),this.pos=t>i?e.length:0,this.from=Math.min(t,i),this.to=Math.max(t,i)}nextInner(e,t){if(t<0?this.pos<=this.
from:this.pos>=this.to)return this.value="",this.done=!0,this;e+=Math.max(0,t<0?this.pos-this.to:this.from-this.
pos);let i=t<0?this.pos-this.from:this.to-this.pos;e>i&&(e=i),i-=e;let{value:s}=this.cursor.next(e);return this.
pos+=(s.length+e)*t,this.value=s.length<=i?s:t<0?s.slice(s.length-i):s.slice(0,i),this.done=!this.value,this}next(e=0){
return e<0?e=Math.max(e,this.from-this.pos):e>0&&(e=Math.min(e,this.to-this.pos)),this.nextInner(e,this.cursor.
dir)}get lineBreak(){return this.cursor.lineBreak&&this.value!=""}},kn=class{constructor(e){this.inner=e,this.
afterBreak=!0,this.value="",this.done=!1}next(e=0){let{done:t,lineBreak:i,value:s}=this.inner.next(e);return t&&
this.afterBreak?(this.value="",this.afterBreak=!1):t?(this.done=!0,this.value=""):i?this.afterBreak?this.value=
"":(this.afterBreak=!0,this.next()):(this.value=s,this.afterBreak=!1),this}get lineBreak(){return!1}};typeof Symbol<
"u"&&(F.prototype[Symbol.iterator]=function(){return this.iter()},Rt.prototype[Symbol.iterator]=wn.prototype[Symbol.
iterator]=kn.prototype[Symbol.iterator]=function(){return this});var nr=class{constructor(e,t,i,s){this.from=e,
this.to=t,this.number=i,this.text=s}get length(){return this.to-this.from}};function ti(n,e,t){return e=Math.max(
0,Math.min(n.length,e)),[e,Math.max(e,Math.min(n.length,t))]}function Z(n,e,t=!0,i=!0){return _l(n,e,t,i)}function Eu(n){
return n>=56320&&n<57344}function Iu(n){return n>=55296&&n<56320}function He(n,e){let t=n.charCodeAt(e);if(!Iu(
t)||e+1==n.length)return t;let i=n.charCodeAt(e+1);return Eu(i)?(t-55296<<10)+(i-56320)+65536:t}function Tn(n){
return n<=65535?String.fromCharCode(n):(n-=65536,String.fromCharCode((n>>10)+55296,(n&1023)+56320))}function dt(n){
return n<65536?1:2}var sr=/\r\n?|\n/,re=(function(n){return n[n.Simple=0]="Simple",n[n.TrackDel=1]="TrackDel",
n[n.TrackBefore=2]="TrackBefore",n[n.TrackAfter=3]="TrackAfter",n})(re||(re={})),rt=class n{constructor(e){this.
sections=e}get length(){let e=0;for(let t=0;t<this.sections.length;t+=2)e+=this.sections[t];return e}get newLength(){
let e=0;for(let t=0;t<this.sections.length;t+=2){let i=this.sections[t+1];e+=i<0?this.sections[t]:i}return e}get empty(){
return this.sections.length==0||this.sections.length==2&&this.sections[1]<0}iterGaps(e){for(let t=0,i=0,s=0;t<
this.sections.length;){let r=this.sections[t++],o=this.sections[t++];o<0?(e(i,s,r),s+=r):s+=o,i+=r}}iterChangedRanges(e,t=!1){
rr(this,e,t)}get invertedDesc(){let e=[];for(let t=0;t<this.sections.length;){let i=this.sections[t++],s=this.
sections[t++];s<0?e.push(i,s):e.push(s,i)}return new n(e)}composeDesc(e){return this.empty?e:e.empty?this:na(this,
e)}mapDesc(e,t=!1){return e.empty?this:or(this,e,t)}mapPos(e,t=-1,i=re.Simple){let s=0,r=0;for(let o=0;o<this.
sections.length;){let l=this.sections[o++],a=this.sections[o++],h=s+l;if(a<0){if(h>e)return r+(e-s);r+=l}else{
if(i!=re.Simple&&h>=e&&(i==re.TrackDel&&s<e&&h>e||i==re.TrackBefore&&s<e||i==re.TrackAfter&&h>e))return null;if(h>
e||h==e&&t<0&&!l)return e==s||t<0?r:r+a;r+=a}s=h}if(e>s)throw new RangeError(`Position ${e} is out of range fo\
r changeset of length ${s}`);return r}touchesRange(e,t=e){for(let i=0,s=0;i<this.sections.length&&s<=t;){let r=this.
sections[i++],o=this.sections[i++],l=s+r;if(o>=0&&s<=t&&l>=e)return s<e&&l>t?"cover":!0;s=l}return!1}toString(){
let e="";for(let t=0;t<this.sections.length;){let i=this.sections[t++],s=this.sections[t++];e+=(e?" ":"")+i+(s>=
0?":"+s:"")}return e}toJSON(){return this.sections}static fromJSON(e){if(!Array.isArray(e)||e.length%2||e.some(
t=>typeof t!="number"))throw new RangeError("Invalid JSON representation of ChangeDesc");return new n(e)}static create(e){
return new n(e)}},pe=class n extends rt{constructor(e,t){super(e),this.inserted=t}apply(e){if(this.length!=e.length)
throw new RangeError("Applying change set to a document with the wrong length");return rr(this,(t,i,s,r,o)=>e=
e.replace(s,s+(i-t),o),!1),e}mapDesc(e,t=!1){return or(this,e,t,!0)}invert(e){let t=this.sections.slice(),i=[];
for(let s=0,r=0;s<t.length;s+=2){let o=t[s],l=t[s+1];if(l>=0){t[s]=l,t[s+1]=o;let a=s>>1;for(;i.length<a;)i.push(
F.empty);i.push(o?e.slice(r,r+o):F.empty)}r+=o}return new n(t,i)}compose(e){return this.empty?e:e.empty?this:na(
this,e,!0)}map(e,t=!1){return e.empty?this:or(this,e,t,!0)}iterChanges(e,t=!1){rr(this,e,t)}get desc(){return rt.
create(this.sections)}filter(e){let t=[],i=[],s=[],r=new Bt(this);e:for(let o=0,l=0;;){let a=o==e.length?1e9:e[o++];
for(;l<a||l==a&&r.len==0;){if(r.done)break e;let c=Math.min(r.len,a-l);he(s,c,-1);let f=r.ins==-1?-1:r.off==0?
r.ins:0;he(t,c,f),f>0&&ut(i,t,r.text),r.forward(c),l+=c}let h=e[o++];for(;l<h;){if(r.done)break e;let c=Math.min(
r.len,h-l);he(t,c,-1),he(s,c,r.ins==-1?-1:r.off==0?r.ins:0),r.forward(c),l+=c}}return{changes:new n(t,i),filtered:rt.
create(s)}}toJSON(){let e=[];for(let t=0;t<this.sections.length;t+=2){let i=this.sections[t],s=this.sections[t+
1];s<0?e.push(i):s==0?e.push([i]):e.push([i].concat(this.inserted[t>>1].toJSON()))}return e}static of(e,t,i){let s=[],
r=[],o=0,l=null;function a(c=!1){if(!c&&!s.length)return;o<t&&he(s,t-o,-1);let f=new n(s,r);l=l?l.compose(f.map(
l)):f,s=[],r=[],o=0}function h(c){if(Array.isArray(c))for(let f of c)h(f);else if(c instanceof n){if(c.length!=
t)throw new RangeError(`Mismatched change set length (got ${c.length}, expected ${t})`);a(),l=l?l.compose(c.map(
l)):c}else{let{from:f,to:u=f,insert:d}=c;if(f>u||f<0||u>t)throw new RangeError(`Invalid change range ${f} to ${u}\
 (in doc of length ${t})`);let p=d?typeof d=="string"?F.of(d.split(i||sr)):d:F.empty,m=p.length;if(f==u&&m==0)
return;f<o&&a(),f>o&&he(s,f-o,-1),he(s,u-f,m),ut(r,s,p),o=u}}return h(e),a(!l),l}static empty(e){return new n(
e?[e,-1]:[],[])}static fromJSON(e){if(!Array.isArray(e))throw new RangeError("Invalid JSON representation of C\
hangeSet");let t=[],i=[];for(let s=0;s<e.length;s++){let r=e[s];if(typeof r=="number")t.push(r,-1);else{if(!Array.
isArray(r)||typeof r[0]!="number"||r.some((o,l)=>l&&typeof o!="string"))throw new RangeError("Invalid JSON rep\
resentation of ChangeSet");if(r.length==1)t.push(r[0],0);else{for(;i.length<s;)i.push(F.empty);i[s]=F.of(r.slice(
1)),t.push(r[0],i[s].length)}}}return new n(t,i)}static createSet(e,t){return new n(e,t)}};function he(n,e,t,i=!1){
if(e==0&&t<=0)return;let s=n.length-2;s>=0&&t<=0&&t==n[s+1]?n[s]+=e:s>=0&&e==0&&n[s]==0?n[s+1]+=t:i?(n[s]+=e,n[s+
1]+=t):n.push(e,t)}function ut(n,e,t){if(t.length==0)return;let i=e.length-2>>1;if(i<n.length)n[n.length-1]=n[n.
length-1].append(t);else{for(;n.length<i;)n.push(F.empty);n.push(t)}}function rr(n,e,t){let i=n.inserted;for(let s=0,
r=0,o=0;o<n.sections.length;){let l=n.sections[o++],a=n.sections[o++];if(a<0)s+=l,r+=l;else{let h=s,c=r,f=F.empty;
for(;h+=l,c+=a,a&&i&&(f=f.append(i[o-2>>1])),!(t||o==n.sections.length||n.sections[o+1]<0);)l=n.sections[o++],
a=n.sections[o++];e(s,h,r,c,f),s=h,r=c}}}function or(n,e,t,i=!1){let s=[],r=i?[]:null,o=new Bt(n),l=new Bt(e);
for(let a=-1;;){if(o.done&&l.len||l.done&&o.len)throw new Error("Mismatched change set lengths");if(o.ins==-1&&
l.ins==-1){let h=Math.min(o.len,l.len);he(s,h,-1),o.forward(h),l.forward(h)}else if(l.ins>=0&&(o.ins<0||a==o.i||
o.off==0&&(l.len<o.len||l.len==o.len&&!t))){let h=l.len;for(he(s,l.ins,-1);h;){let c=Math.min(o.len,h);o.ins>=
0&&a<o.i&&o.len<=c&&(he(s,0,o.ins),r&&ut(r,s,o.text),a=o.i),o.forward(c),h-=c}l.next()}else if(o.ins>=0){let h=0,
c=o.len;for(;c;)if(l.ins==-1){let f=Math.min(c,l.len);h+=f,c-=f,l.forward(f)}else if(l.ins==0&&l.len<c)c-=l.len,
l.next();else break;he(s,h,a<o.i?o.ins:0),r&&a<o.i&&ut(r,s,o.text),a=o.i,o.forward(o.len-c)}else{if(o.done&&l.
done)return r?pe.createSet(s,r):rt.create(s);throw new Error("Mismatched change set lengths")}}}function na(n,e,t=!1){
let i=[],s=t?[]:null,r=new Bt(n),o=new Bt(e);for(let l=!1;;){if(r.done&&o.done)return s?pe.createSet(i,s):rt.create(
i);if(r.ins==0)he(i,r.len,0,l),r.next();else if(o.len==0&&!o.done)he(i,0,o.ins,l),s&&ut(s,i,o.text),o.next();else{
if(r.done||o.done)throw new Error("Mismatched change set lengths");{let a=Math.min(r.len2,o.len),h=i.length;if(r.
ins==-1){let c=o.ins==-1?-1:o.off?0:o.ins;he(i,a,c,l),s&&c&&ut(s,i,o.text)}else o.ins==-1?(he(i,r.off?0:r.len,
a,l),s&&ut(s,i,r.textBit(a))):(he(i,r.off?0:r.len,o.off?0:o.ins,l),s&&!o.off&&ut(s,i,o.text));l=(r.ins>a||o.ins>=
0&&o.len>a)&&(l||i.length>h),r.forward2(a),o.forward(a)}}}}var Bt=class{constructor(e){this.set=e,this.i=0,this.
next()}next(){let{sections:e}=this.set;this.i<e.length?(this.len=e[this.i++],this.ins=e[this.i++]):(this.len=0,
this.ins=-2),this.off=0}get done(){return this.ins==-2}get len2(){return this.ins<0?this.len:this.ins}get text(){
let{inserted:e}=this.set,t=this.i-2>>1;return t>=e.length?F.empty:e[t]}textBit(e){let{inserted:t}=this.set,i=this.
i-2>>1;return i>=t.length&&!e?F.empty:t[i].slice(this.off,e==null?void 0:this.off+e)}forward(e){e==this.len?this.
next():(this.len-=e,this.off+=e)}forward2(e){this.ins==-1?this.forward(e):e==this.ins?this.next():(this.ins-=e,
this.off+=e)}},Ot=class n{constructor(e,t,i,s){this.from=e,this.to=t,this.flags=i,this.goalColumn=s}get anchor(){
return this.flags&32?this.to:this.from}get head(){return this.flags&32?this.from:this.to}get empty(){return this.
from==this.to}get assoc(){return this.flags&8?-1:this.flags&16?1:0}get undirectional(){return(this.flags&64)>0}get bidiLevel(){
let e=this.flags&7;return e==7?null:e}map(e,t=-1){let i,s;return this.empty?i=s=e.mapPos(this.from,t):(i=e.mapPos(
this.from,1),s=e.mapPos(this.to,-1)),i==this.from&&s==this.to?this:new n(i,s,this.flags,this.goalColumn)}extend(e,t=e,i=0){
if(e<=this.anchor&&t>=this.anchor)return y.range(e,t,void 0,void 0,i);let s=Math.abs(e-this.anchor)>Math.abs(t-
this.anchor)?e:t;return y.range(this.anchor,s,void 0,void 0,i)}eq(e,t=!1){return this.anchor==e.anchor&&this.head==
e.head&&this.goalColumn==e.goalColumn&&(!t||!this.empty||this.assoc==e.assoc)}toJSON(){return{anchor:this.anchor,
head:this.head}}static fromJSON(e){if(!e||typeof e.anchor!="number"||typeof e.head!="number")throw new RangeError(
"Invalid JSON representation for SelectionRange");return y.range(e.anchor,e.head)}static create(e,t,i,s){return new n(
e,t,i,s)}},y=class n{constructor(e,t){this.ranges=e,this.mainIndex=t}map(e,t=-1){return e.empty?this:n.create(
this.ranges.map(i=>i.map(e,t)),this.mainIndex)}eq(e,t=!1){if(this.ranges.length!=e.ranges.length||this.mainIndex!=
e.mainIndex)return!1;for(let i=0;i<this.ranges.length;i++)if(!this.ranges[i].eq(e.ranges[i],t))return!1;return!0}get main(){
return this.ranges[this.mainIndex]}asSingle(){return this.ranges.length==1?this:new n([this.main],0)}addRange(e,t=!0){
return n.create([e].concat(this.ranges),t?0:this.mainIndex+1)}replaceRange(e,t=this.mainIndex){let i=this.ranges.
slice();return i[t]=e,n.create(i,this.mainIndex)}toJSON(){return{ranges:this.ranges.map(e=>e.toJSON()),main:this.
mainIndex}}static fromJSON(e){if(!e||!Array.isArray(e.ranges)||typeof e.main!="number"||e.main>=e.ranges.length)
throw new RangeError("Invalid JSON representation for EditorSelection");return new n(e.ranges.map(t=>Ot.fromJSON(
t)),e.main)}static single(e,t=e){return new n([n.range(e,t)],0)}static create(e,t=0){if(e.length==0)throw new RangeError(
"A selection needs at least one range");for(let i=0,s=0;s<e.length;s++){let r=e[s];if(r.empty?r.from<=i:r.from<
i)return n.normalized(e.slice(),t);i=r.to}return new n(e,t)}static cursor(e,t=0,i,s){return Ot.create(e,e,(t==
0?0:t<0?8:16)|(i==null?7:Math.min(6,i)),s)}static range(e,t,i,s,r){let o=s==null?7:Math.min(6,s);return!r&&e!=
t&&(r=t<e?1:-1),r&&(o|=r<0?8:16),t<e?Ot.create(t,e,o|32,i):Ot.create(e,t,o,i)}static undirectionalRange(e,t){return Ot.
create(e,t,64,void 0)}static normalized(e,t=0){let i=e[t];e.sort((s,r)=>s.from-r.from),t=e.indexOf(i);for(let s=1;s<
e.length;s++){let r=e[s],o=e[s-1];if(r.empty?r.from<=o.to:r.from<o.to){let l=o.from,a=Math.max(r.to,o.to);s<=t&&
t--,e.splice(--s,2,r.anchor>r.head?n.range(a,l):n.range(l,a))}}return new n(e,t)}};function sa(n,e){for(let t of n.
ranges)if(t.to>e)throw new RangeError("Selection points outside of document")}var gr=0,S=class n{constructor(e,t,i,s,r){
this.combine=e,this.compareInput=t,this.compare=i,this.isStatic=s,this.id=gr++,this.default=e([]),this.extensions=
typeof r=="function"?r(this):r}get reader(){return this}static define(e={}){return new n(e.combine||(t=>t),e.compareInput||
((t,i)=>t===i),e.compare||(e.combine?(t,i)=>t===i:br),!!e.static,e.enables)}of(e){return new Zt([],this,0,e)}compute(e,t){
if(this.isStatic)throw new Error("Can't compute a static facet");return new Zt(e,this,1,t)}computeN(e,t){if(this.
isStatic)throw new Error("Can't compute a static facet");return new Zt(e,this,2,t)}from(e,t){return t||(t=i=>i),
this.compute([e],i=>t(i.field(e)))}};function br(n,e){return n==e||n.length==e.length&&n.every((t,i)=>t===e[i])}
var Zt=class{constructor(e,t,i,s){this.dependencies=e,this.facet=t,this.type=i,this.value=s,this.id=gr++}dynamicSlot(e){
var t;let i=this.value,s=this.facet.compareInput,r=this.id,o=e[r]>>1,l=this.type==2,a=!1,h=!1,c=[];for(let f of this.
dependencies)f=="doc"?a=!0:f=="selection"?h=!0:(((t=e[f.id])!==null&&t!==void 0?t:1)&1)==0&&c.push(e[f.id]);return{
create(f){return f.values[o]=i(f),1},update(f,u){if(a&&u.docChanged||h&&(u.docChanged||u.selection)||lr(f,c)){
let d=i(f);if(l?!Zl(d,f.values[o],s):!s(d,f.values[o]))return f.values[o]=d,1}return 0},reconfigure:(f,u)=>{let d,
p=u.config.address[r];if(p!=null){let m=An(u,p);if(this.dependencies.every(g=>g instanceof S?u.facet(g)===f.facet(
g):g instanceof Q?u.field(g,!1)==f.field(g,!1):!0)||(l?Zl(d=i(f),m,s):s(d=i(f),m)))return f.values[o]=m,0}else
d=i(f);return f.values[o]=d,1}}}get extension(){return this}};function Zl(n,e,t){if(n.length!=e.length)return!1;
for(let i=0;i<n.length;i++)if(!t(n[i],e[i]))return!1;return!0}function lr(n,e){let t=!1;for(let i of e)Di(n,i)&
1&&(t=!0);return t}function Nu(n,e,t){let i=t.map(a=>n[a.id]),s=t.map(a=>a.type),r=i.filter(a=>!(a&1)),o=n[e.id]>>
1;function l(a){let h=[];for(let c=0;c<i.length;c++){let f=An(a,i[c]);if(s[c]==2)for(let u of f)h.push(u);else
h.push(f)}return e.combine(h)}return{create(a){for(let h of i)Di(a,h);return a.values[o]=l(a),1},update(a,h){if(!lr(
a,r))return 0;let c=l(a);return e.compare(c,a.values[o])?0:(a.values[o]=c,1)},reconfigure(a,h){let c=lr(a,i),f=h.
config.facets[e.id],u=h.facet(e);if(f&&!c&&br(t,f))return a.values[o]=u,0;let d=l(a);return e.compare(d,u)?(a.
values[o]=u,0):(a.values[o]=d,1)}}}var gn=S.define({static:!0}),Q=class n{constructor(e,t,i,s,r){this.id=e,this.
createF=t,this.updateF=i,this.compareF=s,this.spec=r,this.provides=void 0}static define(e){let t=new n(gr++,e.
create,e.update,e.compare||((i,s)=>i===s),e);return e.provide&&(t.provides=e.provide(t)),t}create(e){let t=e.facet(
gn).find(i=>i.field==this);return(t?.create||this.createF)(e)}slot(e){let t=e[this.id]>>1;return{create:i=>(i.
values[t]=this.create(i),1),update:(i,s)=>{let r=i.values[t],o=this.updateF(r,s);return this.compareF(r,o)?0:(i.
values[t]=o,1)},reconfigure:(i,s)=>{let r=i.facet(gn),o=s.facet(gn),l;return(l=r.find(a=>a.field==this))&&l!=o.
find(a=>a.field==this)?(i.values[t]=l.create(i),1):s.config.address[this.id]!=null?(i.values[t]=s.field(this),
0):(i.values[t]=this.create(i),1)}}}init(e){return[this,gn.of({field:this,create:e})]}get extension(){return this}},
Dt={lowest:4,low:3,default:2,high:1,highest:0};function Oi(n){return e=>new vn(e,n)}var ot={highest:Oi(Dt.highest),
high:Oi(Dt.high),default:Oi(Dt.default),low:Oi(Dt.low),lowest:Oi(Dt.lowest)},vn=class{constructor(e,t){this.inner=
e,this.prec=t}get extension(){return this}},Sn=class n{of(e){return new Pi(this,e)}reconfigure(e){return n.reconfigure.
of({compartment:this,extension:e})}get(e){return e.config.compartments.get(this)}},Pi=class{constructor(e,t){this.
compartment=e,this.inner=t}get extension(){return this}},Cn=class n{constructor(e,t,i,s,r,o){for(this.base=e,this.
compartments=t,this.dynamicSlots=i,this.address=s,this.staticValues=r,this.facets=o,this.statusTemplate=[];this.
statusTemplate.length<i.length;)this.statusTemplate.push(0)}staticFacet(e){let t=this.address[e.id];return t==
null?e.default:this.staticValues[t>>1]}static resolve(e,t,i){let s=[],r=Object.create(null),o=new Map;for(let u of Fu(
e,t,o))u instanceof Q?s.push(u):(r[u.facet.id]||(r[u.facet.id]=[])).push(u);let l=Object.create(null),a=[],h=[];
for(let u of s)l[u.id]=h.length<<1,h.push(d=>u.slot(d));let c=i?.config.facets;for(let u in r){let d=r[u],p=d[0].
facet,m=c&&c[u]||[];if(d.every(g=>g.type==0))if(l[p.id]=a.length<<1|1,br(m,d))a.push(i.facet(p));else{let g=p.
combine(d.map(b=>b.value));a.push(i&&p.compare(g,i.facet(p))?i.facet(p):g)}else{for(let g of d)g.type==0?(l[g.
id]=a.length<<1|1,a.push(g.value)):(l[g.id]=h.length<<1,h.push(b=>g.dynamicSlot(b)));l[p.id]=h.length<<1,h.push(
g=>Nu(g,p,d))}}let f=h.map(u=>u(l));return new n(e,o,f,l,a,r)}};function Fu(n,e,t){let i=[[],[],[],[],[]],s=new Map;
function r(o,l){let a=s.get(o);if(a!=null){if(a<=l)return;let h=i[a].indexOf(o);h>-1&&i[a].splice(h,1),o instanceof
Pi&&t.delete(o.compartment)}if(s.set(o,l),Array.isArray(o))for(let h of o)r(h,l);else if(o instanceof Pi){if(t.
has(o.compartment))throw new RangeError("Duplicate use of compartment in extensions");let h=e.get(o.compartment)||
o.inner;t.set(o.compartment,h),r(h,l)}else if(o instanceof vn)r(o.inner,o.prec);else if(o instanceof Q)i[l].push(
o),o.provides&&r(o.provides,l);else if(o instanceof Zt)i[l].push(o),o.facet.extensions&&r(o.facet.extensions,Dt.
default);else{let h=o.extension;if(!h)throw new Error(`Unrecognized extension value in extension set (${o}).`);
if(h==o)throw new Error(`Unrecognized extension value in extension set (${o}). This sometimes happens because \
multiple instances of @codemirror/state are loaded, breaking instanceof checks.`);r(h,l)}}return r(n,Dt.default),
i.reduce((o,l)=>o.concat(l))}function Di(n,e){if(e&1)return 2;let t=e>>1,i=n.status[t];if(i==4)throw new Error(
"Cyclic dependency between fields and/or facets");if(i&2)return i;n.status[t]=4;let s=n.computeSlot(n,n.config.
dynamicSlots[t]);return n.status[t]=2|s}function An(n,e){return e&1?n.config.staticValues[e>>1]:n.values[e>>1]}
var ra=S.define(),ar=S.define({combine:n=>n.some(e=>e),static:!0}),oa=S.define({combine:n=>n.length?n[0]:void 0,
static:!0}),la=S.define(),aa=S.define(),ha=S.define(),ca=S.define({combine:n=>n.length?n[0]:!1}),Ce=class{constructor(e,t){
this.type=e,this.value=t}static define(){return new hr}},hr=class{of(e){return new Ce(this,e)}},cr=class{constructor(e){
this.map=e}of(e){return new B(this,e)}},B=class n{constructor(e,t){this.type=e,this.value=t}map(e){let t=this.
type.map(this.value,e);return t===void 0?void 0:t==this.value?this:new n(this.type,t)}is(e){return this.type==
e}static define(e={}){return new cr(e.map||(t=>t))}static mapEffects(e,t){if(!e.length)return e;let i=[];for(let s of e){
let r=s.map(t);r&&i.push(r)}return i}};B.reconfigure=B.define();B.appendConfig=B.define();var ie=class n{constructor(e,t,i,s,r,o){
this.startState=e,this.changes=t,this.selection=i,this.effects=s,this.annotations=r,this.scrollIntoView=o,this.
_doc=null,this._state=null,i&&sa(i,t.newLength),r.some(l=>l.type==n.time)||(this.annotations=r.concat(n.time.of(
Date.now())))}static create(e,t,i,s,r,o){return new n(e,t,i,s,r,o)}get newDoc(){return this._doc||(this._doc=this.
changes.apply(this.startState.doc))}get newSelection(){return this.selection||this.startState.selection.map(this.
changes)}get state(){return this._state||this.startState.applyTransaction(this),this._state}annotation(e){for(let t of this.
annotations)if(t.type==e)return t.value}get docChanged(){return!this.changes.empty}get reconfigured(){return this.
startState.config!=this.state.config}isUserEvent(e){let t=this.annotation(n.userEvent);return!!(t&&(t==e||t.length>
e.length&&t.slice(0,e.length)==e&&t[e.length]=="."))}};ie.time=Ce.define();ie.userEvent=Ce.define();ie.addToHistory=
Ce.define();ie.remote=Ce.define();function Wu(n,e){let t=[];for(let i=0,s=0;;){let r,o;if(i<n.length&&(s==e.length||
e[s]>=n[i]))r=n[i++],o=n[i++];else if(s<e.length)r=e[s++],o=e[s++];else return t;!t.length||t[t.length-1]<r?t.
push(r,o):t[t.length-1]<o&&(t[t.length-1]=o)}}function fa(n,e,t){var i;let s,r,o;return t?(s=e.changes,r=pe.empty(
e.changes.length),o=n.changes.compose(e.changes)):(s=e.changes.map(n.changes),r=n.changes.mapDesc(e.changes,!0),
o=n.changes.compose(s)),{changes:o,selection:e.selection?e.selection.map(r):(i=n.selection)===null||i===void 0?
void 0:i.map(s),effects:B.mapEffects(n.effects,s).concat(B.mapEffects(e.effects,r)),annotations:n.annotations.
length?n.annotations.concat(e.annotations):e.annotations,scrollIntoView:n.scrollIntoView||e.scrollIntoView}}function fr(n,e,t){
let i=e.selection,s=ei(e.annotations);return e.userEvent&&(s=s.concat(ie.userEvent.of(e.userEvent))),{changes:e.
changes instanceof pe?e.changes:pe.of(e.changes||[],t,n.facet(oa)),selection:i&&(i instanceof y?i:y.single(i.anchor,
i.head)),effects:ei(e.effects),annotations:s,scrollIntoView:!!e.scrollIntoView}}function ua(n,e,t){let i=fr(n,
e.length?e[0]:{},n.doc.length);e.length&&e[0].filter===!1&&(t=!1);for(let r=1;r<e.length;r++){e[r].filter===!1&&
(t=!1);let o=!!e[r].sequential;i=fa(i,fr(n,e[r],o?i.changes.newLength:n.doc.length),o)}let s=ie.create(n,i.changes,
i.selection,i.effects,i.annotations,i.scrollIntoView);return Vu(t?Hu(s):s)}function Hu(n){let e=n.startState,t=!0;
for(let s of e.facet(la)){let r=s(n);if(r===!1){t=!1;break}Array.isArray(r)&&(t=t===!0?r:Wu(t,r))}if(t!==!0){let s,
r;if(t===!1)r=n.changes.invertedDesc,s=pe.empty(e.doc.length);else{let o=n.changes.filter(t);s=o.changes,r=o.filtered.
mapDesc(o.changes).invertedDesc}n=ie.create(e,s,n.selection&&n.selection.map(r),B.mapEffects(n.effects,r),n.annotations,
n.scrollIntoView)}let i=e.facet(aa);for(let s=i.length-1;s>=0;s--){let r=i[s](n);r instanceof ie?n=r:Array.isArray(
r)&&r.length==1&&r[0]instanceof ie?n=r[0]:n=ua(e,ei(r),!1)}return n}function Vu(n){let e=n.startState,t=e.facet(
ha),i=n;for(let s=t.length-1;s>=0;s--){let r=t[s](n);r&&Object.keys(r).length&&(i=fa(i,fr(e,r,n.changes.newLength),
!0))}return i==n?n:ie.create(e,n.changes,n.selection,i.effects,i.annotations,i.scrollIntoView)}var zu=[];function ei(n){
return n==null?zu:Array.isArray(n)?n:[n]}var $=(function(n){return n[n.Word=0]="Word",n[n.Space=1]="Space",n[n.
Other=2]="Other",n})($||($={})),qu=/[\u00df\u0587\u0590-\u05f4\u0600-\u06ff\u3040-\u309f\u30a0-\u30ff\u3400-\u4db5\u4e00-\u9fcc\uac00-\ud7af]/,
ur;try{ur=new RegExp("[\\p{Alphabetic}\\p{Number}_]","u")}catch{}function $u(n){if(ur)return ur.test(n);for(let e=0;e<
n.length;e++){let t=n[e];if(/\w/.test(t)||t>"\x80"&&(t.toUpperCase()!=t.toLowerCase()||qu.test(t)))return!0}return!1}
function Ku(n){return e=>{if(!/\S/.test(e))return $.Space;if($u(e))return $.Word;for(let t=0;t<n.length;t++)if(e.
indexOf(n[t])>-1)return $.Word;return $.Other}}var j=class n{constructor(e,t,i,s,r,o){this.config=e,this.doc=t,
this.selection=i,this.values=s,this.status=e.statusTemplate.slice(),this.computeSlot=r,o&&(o._state=this);for(let l=0;l<
this.config.dynamicSlots.length;l++)Di(this,l<<1);this.computeSlot=null}field(e,t=!0){let i=this.config.address[e.
id];if(i==null){if(t)throw new RangeError("Field is not present in this state");return}return Di(this,i),An(this,
i)}update(...e){return ua(this,e,!0)}applyTransaction(e){let t=this.config,{base:i,compartments:s}=t;for(let l of e.
effects)l.is(Sn.reconfigure)?(t&&(s=new Map,t.compartments.forEach((a,h)=>s.set(h,a)),t=null),s.set(l.value.compartment,
l.value.extension)):l.is(B.reconfigure)?(t=null,i=l.value):l.is(B.appendConfig)&&(t=null,i=ei(i).concat(l.value));
let r;t?r=e.startState.values.slice():(t=Cn.resolve(i,s,this),r=new n(t,this.doc,this.selection,t.dynamicSlots.
map(()=>null),(a,h)=>h.reconfigure(a,this),null).values);let o=e.startState.facet(ar)?e.newSelection:e.newSelection.
asSingle();new n(t,e.newDoc,o,r,(l,a)=>a.update(l,e),e)}replaceSelection(e){return typeof e=="string"&&(e=this.
toText(e)),this.changeByRange(t=>({changes:{from:t.from,to:t.to,insert:e},range:y.cursor(t.from+e.length,-1)}))}changeByRange(e){
let t=this.selection,i=e(t.ranges[0]),s=this.changes(i.changes),r=[i.range],o=ei(i.effects);for(let l=1;l<t.ranges.
length;l++){let a=e(t.ranges[l]),h=this.changes(a.changes),c=h.map(s);for(let u=0;u<l;u++)r[u]=r[u].map(c);let f=s.
mapDesc(h,!0);r.push(a.range.map(f)),s=s.compose(c),o=B.mapEffects(o,c).concat(B.mapEffects(ei(a.effects),f))}
return{changes:s,selection:y.create(r,t.mainIndex),effects:o}}changes(e=[]){return e instanceof pe?e:pe.of(e,this.
doc.length,this.facet(n.lineSeparator))}toText(e){return F.of(e.split(this.facet(n.lineSeparator)||sr))}sliceDoc(e=0,t=this.
doc.length){return this.doc.sliceString(e,t,this.lineBreak)}facet(e){let t=this.config.address[e.id];return t==
null?e.default:(Di(this,t),An(this,t))}toJSON(e){let t={doc:this.sliceDoc(),selection:this.selection.toJSON()};
if(e)for(let i in e){let s=e[i];s instanceof Q&&this.config.address[s.id]!=null&&(t[i]=s.spec.toJSON(this.field(
e[i]),this))}return t}static fromJSON(e,t={},i){if(!e||typeof e.doc!="string")throw new RangeError("Invalid JS\
ON representation for EditorState");let s=[];if(i){for(let r in i)if(Object.prototype.hasOwnProperty.call(e,r)){
let o=i[r],l=e[r];s.push(o.init(a=>o.spec.fromJSON(l,a)))}}return n.create({doc:e.doc,selection:y.fromJSON(e.selection),
extensions:t.extensions?s.concat([t.extensions]):s})}static create(e={}){let t=Cn.resolve(e.extensions||[],new Map),
i=e.doc instanceof F?e.doc:F.of((e.doc||"").split(t.staticFacet(n.lineSeparator)||sr)),s=e.selection?e.selection instanceof
y?e.selection:y.single(e.selection.anchor,e.selection.head):y.single(0);return sa(s,i.length),t.staticFacet(ar)||
(s=s.asSingle()),new n(t,i,s,t.dynamicSlots.map(()=>null),(r,o)=>o.create(r),null)}get tabSize(){return this.facet(
n.tabSize)}get lineBreak(){return this.facet(n.lineSeparator)||`
`}get readOnly(){return this.facet(ca)}phrase(e,...t){for(let i of this.facet(n.phrases))if(Object.prototype.hasOwnProperty.
call(i,e)){e=i[e];break}return t.length&&(e=e.replace(/\$(\$|\d*)/g,(i,s)=>{if(s=="$")return"$";let r=+(s||1);
return!r||r>t.length?i:t[r-1]})),e}languageDataAt(e,t,i=-1){let s=[];for(let r of this.facet(ra))for(let o of r(
this,t,i))Object.prototype.hasOwnProperty.call(o,e)&&s.push(o[e]);return s}charCategorizer(e){let t=this.languageDataAt(
"wordChars",e);return Ku(t.length?t[0]:"")}wordAt(e){let{text:t,from:i,length:s}=this.doc.lineAt(e),r=this.charCategorizer(
e),o=e-i,l=e-i;for(;o>0;){let a=Z(t,o,!1);if(r(t.slice(a,o))!=$.Word)break;o=a}for(;l<s;){let a=Z(t,l);if(r(t.
slice(l,a))!=$.Word)break;l=a}return o==l?null:y.range(o+i,l+i)}};j.allowMultipleSelections=ar;j.tabSize=S.define(
{combine:n=>n.length?n[0]:4});j.lineSeparator=oa;j.readOnly=ca;j.phrases=S.define({compare(n,e){let t=Object.keys(
n),i=Object.keys(e);return t.length==i.length&&t.every(s=>n[s]==e[s])}});j.languageData=ra;j.changeFilter=la;j.
transactionFilter=aa;j.transactionExtender=ha;Sn.reconfigure=B.define();function ce(n,e,t={}){let i={};for(let s of n)
for(let r of Object.keys(s)){let o=s[r],l=i[r];if(l===void 0)i[r]=o;else if(!(l===o||o===void 0))if(Object.hasOwnProperty.
call(t,r))i[r]=t[r](l,o);else throw new Error("Config merge conflict for field "+r)}for(let s in e)i[s]===void 0&&
(i[s]=e[s]);return i}var Re=class{eq(e){return this==e}range(e,t=e){return Ri.create(e,t,this)}};Re.prototype.
startSide=Re.prototype.endSide=0;Re.prototype.point=!1;Re.prototype.mapMode=re.TrackDel;function yr(n,e){return n==
e||n.constructor==e.constructor&&n.eq(e)}var Ri=class n{constructor(e,t,i){this.from=e,this.to=t,this.value=i}static create(e,t,i){
return new n(e,t,i)}};function dr(n,e){return n.from-e.from||n.value.startSide-e.value.startSide}var pr=class n{constructor(e,t,i,s){
this.from=e,this.to=t,this.value=i,this.maxPoint=s}get length(){return Qt(this.to)}findIndex(e,t,i,s=0){let r=i?
this.to:this.from;for(let o=s,l=r.length;;){if(o==l)return o;let a=o+l>>1,h=r[a]-e||(i?this.value[a].endSide:this.
value[a].startSide)-t;if(a==o)return h>=0?o:l;h>=0?l=a:o=a+1}}between(e,t,i,s){for(let r=this.findIndex(t,-1e9,
!0),o=this.findIndex(i,1e9,!1,r);r<o;r++)if(s(this.from[r]+e,this.to[r]+e,this.value[r])===!1)return!1}map(e,t,i,s,r){
let o=[],l=[],a=[],h=-1,c=-1;e:for(let f=0;f<this.value.length;f++){let u=this.value[f],d=this.from[f]+e,p=this.
to[f]+e,m,g;if(d==p){let b=t.mapPos(d,u.startSide,u.mapMode);if(b==null||(m=g=b,u.startSide!=u.endSide&&(g=t.mapPos(
d,u.endSide),g<m)))continue}else if(m=t.mapPos(d,u.startSide),g=t.mapPos(p,u.endSide),m>g||m==g&&u.startSide>0&&
u.endSide<=0)continue;if(!((g-m||u.endSide-u.startSide)<0))if(h<0&&(h=m),u.point&&(c=Math.max(c,g-m)),(m-i||u.
startSide-s)>=0)o.push(u),l.push(m-h),a.push(g-h),i=g,s=u.endSide;else{if(m==g)for(let b=o.length;b>0;b--){if((m-
(a[b-1]+h)||u.startSide-o[b-1].endSide)>=0){o.splice(b,0,u),l.splice(b,0,m-h),a.splice(b,0,g-h);continue e}if((m-
(l[b-1]+h)||u.endSide-o[b-1].startSide)>0)break}r(m,g,u)}}return{mapped:o.length?new n(l,a,o,c):null,pos:h}}},
W=class n{constructor(e,t,i,s){this.chunkPos=e,this.chunk=t,this.nextLayer=i,this.maxPoint=s}static create(e,t,i,s){
return new n(e,t,i,s)}get length(){let e=this.chunk.length-1;return e<0?0:Math.max(this.chunkEnd(e),this.nextLayer.
length)}get size(){if(this.isEmpty)return 0;let e=this.nextLayer.size;for(let t of this.chunk)e+=t.value.length;
return e}chunkEnd(e){return this.chunkPos[e]+this.chunk[e].length}update(e){let{add:t=[],sort:i=!1,filterFrom:s=0,
filterTo:r=this.length}=e,o=e.filter;if(t.length==0&&!o)return this;if(i&&(t=t.slice().sort(dr)),this.isEmpty)
return t.length?n.of(t):this;let l=new Mn(this,null,-1).goto(0),a=0,h=[],c=new ye;for(;l.value||a<t.length;)if(a<
t.length&&(l.from-t[a].from||l.startSide-t[a].value.startSide)>=0){let f=t[a++];c.addInner(f.from,f.to,f.value,
!1)||h.push(f)}else l.rangeIndex==1&&l.chunkIndex<this.chunk.length&&(a==t.length||this.chunkEnd(l.chunkIndex)<
t[a].from)&&(!o||s>this.chunkEnd(l.chunkIndex)||r<this.chunkPos[l.chunkIndex])&&c.addChunk(this.chunkPos[l.chunkIndex],
this.chunk[l.chunkIndex])?l.nextChunk():((!o||s>l.to||r<l.from||o(l.from,l.to,l.value))&&(c.addInner(l.from,l.
to,l.value,!1)||h.push(Ri.create(l.from,l.to,l.value))),l.next());return c.finishInner(this.nextLayer.isEmpty&&
!h.length?n.empty:this.nextLayer.update({add:h,filter:o,filterFrom:s,filterTo:r}))}map(e){if(e.empty||this.isEmpty)
return this;let t=[],i=[],s=-1,r,o=(a,h,c)=>{r||(r=new ye),r.addRange(a,h,c,!1)};for(let a=0;a<this.chunk.length;a++){
let h=this.chunkPos[a],c=this.chunk[a],f=e.touchesRange(h,h+c.length);if(f===!1)s=Math.max(s,c.maxPoint),t.push(
c),i.push(e.mapPos(h));else if(f===!0){let[u,d]=t.length?[Qt(i)+Qt(t).length,Qt(Qt(t).value).endSide]:[-1,-1],
{mapped:p,pos:m}=c.map(h,e,u,d,o);p&&(s=Math.max(s,p.maxPoint),t.push(p),i.push(m))}}let l=this.nextLayer.map(
e);return r&&(l=r.finishInner(l)),t.length==0?l:new n(i,t,l||n.empty,s)}between(e,t,i){if(!this.isEmpty){for(let s=0;s<
this.chunk.length;s++){let r=this.chunkPos[s],o=this.chunk[s];if(t>=r&&e<=r+o.length&&o.between(r,e-r,t-r,i)===
!1)return}this.nextLayer.between(e,t,i)}}iter(e=0){return Bi.from([this]).goto(e)}get isEmpty(){return this.nextLayer==
this}static iter(e,t=0){return Bi.from(e).goto(t)}static compare(e,t,i,s,r=-1){let o=e.filter(f=>f.maxPoint>0||
!f.isEmpty&&f.maxPoint>=r),l=t.filter(f=>f.maxPoint>0||!f.isEmpty&&f.maxPoint>=r),a=ea(o,l,i),h=new Pt(o,a,r),
c=new Pt(l,a,r);i.iterGaps((f,u,d)=>ta(h,f,c,u,d,s)),i.empty&&i.length==0&&ta(h,0,c,0,0,s)}static eq(e,t,i=0,s){
s==null&&(s=999999999);let r=e.filter(c=>!c.isEmpty&&t.indexOf(c)<0),o=t.filter(c=>!c.isEmpty&&e.indexOf(c)<0);
if(r.length!=o.length)return!1;if(!r.length)return!0;let l=ea(r,o),a=new Pt(r,l,0).goto(i),h=new Pt(o,l,0).goto(
i);for(;;){if(a.to!=h.to||!mr(a.active,h.active)||a.point&&(!h.point||!yr(a.point,h.point)))return!1;if(a.to>s)
return!0;a.next(),h.next()}}static spans(e,t,i,s,r=-1){let o=new Pt(e,null,r).goto(t),l=t,a=o.openStart;for(;;){
let h=Math.min(o.to,i);if(o.point){let c=o.activeForPoint(o.to),f=o.pointFrom<t?c.length+1:o.point.startSide<0?
c.length:Math.min(c.length,a);s.point(l,h,o.point,c,f,o.pointRank),a=Math.min(o.openEnd(h),c.length)}else h>l&&
(s.span(l,h,o.active,a),a=o.openEnd(h));if(o.to>i)return a+(o.point&&o.to>i?1:0);l=o.to,o.next()}}static of(e,t=!1){
let i=new ye;for(let s of e instanceof Ri?[e]:t?ju(e):e)i.add(s.from,s.to,s.value);return i.finish()}static join(e){
if(!e.length)return n.empty;let t=Qt(e);for(let i=e.length-2;i>=0;i--)for(let s=e[i];s!=n.empty;s=s.nextLayer)
t=new n(s.chunkPos,s.chunk,t,Math.max(s.maxPoint,t.maxPoint));return t}};W.empty=new W([],[],null,-1);function Qt(n){
return n[n.length-1]}function ju(n){if(n.length>1)for(let e=n[0],t=1;t<n.length;t++){let i=n[t];if(dr(e,i)>0)return n.
slice().sort(dr);e=i}return n}W.empty.nextLayer=W.empty;var ye=class n{finishChunk(e){this.chunks.push(new pr(
this.from,this.to,this.value,this.maxPoint)),this.chunkPos.push(this.chunkStart),this.chunkStart=-1,this.setMaxPoint=
Math.max(this.setMaxPoint,this.maxPoint),this.maxPoint=-1,e&&(this.from=[],this.to=[],this.value=[])}constructor(){
this.chunks=[],this.chunkPos=[],this.chunkStart=-1,this.last=null,this.lastFrom=-1e9,this.lastTo=-1e9,this.from=
[],this.to=[],this.value=[],this.maxPoint=-1,this.setMaxPoint=-1,this.nextLayer=null}add(e,t,i){this.addRange(
e,t,i,!0)}addRange(e,t,i,s){this.addInner(e,t,i,s)||(this.nextLayer||(this.nextLayer=new n)).addRange(e,t,i,s)}addInner(e,t,i,s){
let r=e-this.lastTo||i.startSide-this.last.endSide;if(s&&r<=0&&(e-this.lastFrom||i.startSide-this.last.startSide)<
0)throw new Error("Ranges must be added sorted by `from` position and `startSide`");return r<0?!1:(this.from.length==
250&&this.finishChunk(!0),this.chunkStart<0&&(this.chunkStart=e),this.from.push(e-this.chunkStart),this.to.push(
t-this.chunkStart),this.last=i,this.lastFrom=e,this.lastTo=t,this.value.push(i),i.point&&(this.maxPoint=Math.max(
this.maxPoint,t-e)),!0)}addChunk(e,t){if((e-this.lastTo||t.value[0].startSide-this.last.endSide)<0)return!1;this.
from.length&&this.finishChunk(!0),this.setMaxPoint=Math.max(this.setMaxPoint,t.maxPoint),this.chunks.push(t),this.
chunkPos.push(e);let i=t.value.length-1;return this.last=t.value[i],this.lastFrom=t.from[i]+e,this.lastTo=t.to[i]+
e,!0}finish(){return this.finishInner(W.empty)}finishInner(e){if(this.from.length&&this.finishChunk(!1),this.chunks.
length==0)return e;let t=W.create(this.chunkPos,this.chunks,this.nextLayer?this.nextLayer.finishInner(e):e,this.
setMaxPoint);return this.from=null,t}};function ea(n,e,t){let i=new Map;for(let r of n)for(let o=0;o<r.chunk.length;o++)
r.chunk[o].maxPoint<=0&&i.set(r.chunk[o],r.chunkPos[o]);let s=new Set;for(let r of e)for(let o=0;o<r.chunk.length;o++){
let l=i.get(r.chunk[o]);l!=null&&(t?t.mapPos(l):l)==r.chunkPos[o]&&!t?.touchesRange(l,l+r.chunk[o].length)&&s.
add(r.chunk[o])}return s}var Mn=class{constructor(e,t,i,s=0){this.layer=e,this.skip=t,this.minPoint=i,this.rank=
s}get startSide(){return this.value?this.value.startSide:0}get endSide(){return this.value?this.value.endSide:
0}goto(e,t=-1e9){return this.chunkIndex=this.rangeIndex=0,this.gotoInner(e,t,!1),this}gotoInner(e,t,i){for(;this.
chunkIndex<this.layer.chunk.length;){let s=this.layer.chunk[this.chunkIndex];if(!(this.skip&&this.skip.has(s)||
this.layer.chunkEnd(this.chunkIndex)<e||s.maxPoint<this.minPoint))break;this.chunkIndex++,i=!1}if(this.chunkIndex<
this.layer.chunk.length){let s=this.layer.chunk[this.chunkIndex].findIndex(e-this.layer.chunkPos[this.chunkIndex],
t,!0);(!i||this.rangeIndex<s)&&this.setRangeIndex(s)}this.next()}forward(e,t){(this.to-e||this.endSide-t)<0&&this.
gotoInner(e,t,!0)}next(){for(;;)if(this.chunkIndex==this.layer.chunk.length){this.from=this.to=1e9,this.value=
null;break}else{let e=this.layer.chunkPos[this.chunkIndex],t=this.layer.chunk[this.chunkIndex],i=e+t.from[this.
rangeIndex];if(this.from=i,this.to=e+t.to[this.rangeIndex],this.value=t.value[this.rangeIndex],this.setRangeIndex(
this.rangeIndex+1),this.minPoint<0||this.value.point&&this.to-this.from>=this.minPoint)break}}setRangeIndex(e){
if(e==this.layer.chunk[this.chunkIndex].value.length){if(this.chunkIndex++,this.skip)for(;this.chunkIndex<this.
layer.chunk.length&&this.skip.has(this.layer.chunk[this.chunkIndex]);)this.chunkIndex++;this.rangeIndex=0}else
this.rangeIndex=e}nextChunk(){this.chunkIndex++,this.rangeIndex=0,this.next()}compare(e){return this.from-e.from||
this.startSide-e.startSide||this.rank-e.rank||this.to-e.to||this.endSide-e.endSide}},Bi=class n{constructor(e){
this.heap=e}static from(e,t=null,i=-1){let s=[];for(let r=0;r<e.length;r++)for(let o=e[r];!o.isEmpty;o=o.nextLayer)
o.maxPoint>=i&&s.push(new Mn(o,t,i,r));return s.length==1?s[0]:new n(s)}get startSide(){return this.value?this.
value.startSide:0}goto(e,t=-1e9){for(let i of this.heap)i.goto(e,t);for(let i=this.heap.length>>1;i>=0;i--)ir(
this.heap,i);return this.next(),this}forward(e,t){for(let i of this.heap)i.forward(e,t);for(let i=this.heap.length>>
1;i>=0;i--)ir(this.heap,i);(this.to-e||this.value.endSide-t)<0&&this.next()}next(){if(this.heap.length==0)this.
from=this.to=1e9,this.value=null,this.rank=-1;else{let e=this.heap[0];this.from=e.from,this.to=e.to,this.value=
e.value,this.rank=e.rank,e.value&&e.next(),ir(this.heap,0)}}};function ir(n,e){for(let t=n[e];;){let i=(e<<1)+
1;if(i>=n.length)break;let s=n[i];if(i+1<n.length&&s.compare(n[i+1])>=0&&(s=n[i+1],i++),t.compare(s)<0)break;n[i]=
t,n[e]=s,e=i}}var Pt=class{constructor(e,t,i){this.minPoint=i,this.active=[],this.activeTo=[],this.activeRank=
[],this.minActive=-1,this.point=null,this.pointFrom=0,this.pointRank=0,this.to=-1e9,this.endSide=0,this.openStart=
-1,this.cursor=Bi.from(e,t,i)}goto(e,t=-1e9){return this.cursor.goto(e,t),this.active.length=this.activeTo.length=
this.activeRank.length=0,this.minActive=-1,this.to=e,this.endSide=t,this.openStart=-1,this.next(),this}forward(e,t){
for(;this.minActive>-1&&(this.activeTo[this.minActive]-e||this.active[this.minActive].endSide-t)<0;)this.removeActive(
this.minActive);this.cursor.forward(e,t)}removeActive(e){bn(this.active,e),bn(this.activeTo,e),bn(this.activeRank,
e),this.minActive=ia(this.active,this.activeTo)}addActive(e){let t=0,{value:i,to:s,rank:r}=this.cursor;for(;t<
this.activeRank.length&&(r-this.activeRank[t]||s-this.activeTo[t])>0;)t++;yn(this.active,t,i),yn(this.activeTo,
t,s),yn(this.activeRank,t,r),e&&yn(e,t,this.cursor.from),this.minActive=ia(this.active,this.activeTo)}next(){let e=this.
to,t=this.point;this.point=null;let i=this.openStart<0?[]:null;for(;;){let s=this.minActive;if(s>-1&&(this.activeTo[s]-
this.cursor.from||this.active[s].endSide-this.cursor.startSide)<0){if(this.activeTo[s]>e){this.to=this.activeTo[s],
this.endSide=this.active[s].endSide;break}this.removeActive(s),i&&bn(i,s)}else if(this.cursor.value)if(this.cursor.
from>e){this.to=this.cursor.from,this.endSide=this.cursor.startSide;break}else{let r=this.cursor.value;if(!r.point)
this.addActive(i),this.cursor.next();else if(t&&this.cursor.to==this.to&&this.cursor.from<this.cursor.to)this.
cursor.next();else{this.point=r,this.pointFrom=this.cursor.from,this.pointRank=this.cursor.rank,this.to=this.cursor.
to,this.endSide=r.endSide,this.cursor.next(),this.forward(this.to,this.endSide);break}}else{this.to=this.endSide=
1e9;break}}if(i){this.openStart=0;for(let s=i.length-1;s>=0&&i[s]<e;s--)this.openStart++}}activeForPoint(e){if(!this.
active.length)return this.active;let t=[];for(let i=this.active.length-1;i>=0&&!(this.activeRank[i]<this.pointRank);i--)
(this.activeTo[i]>e||this.activeTo[i]==e&&this.active[i].endSide>=this.point.endSide)&&t.push(this.active[i]);
return t.reverse()}openEnd(e){let t=0;for(let i=this.activeTo.length-1;i>=0&&this.activeTo[i]>e;i--)t++;return t}};
function ta(n,e,t,i,s,r){n.goto(e),t.goto(i);let o=i+s,l=i,a=i-e,h=!!r.boundChange;for(let c=!1;;){let f=n.to+
a-t.to,u=f||n.endSide-t.endSide,d=u<0?n.to+a:t.to,p=Math.min(d,o);if(n.point||t.point?(n.point&&t.point&&yr(n.
point,t.point)&&mr(n.activeForPoint(n.to),t.activeForPoint(t.to))||r.comparePoint(l,p,n.point,t.point),c=!1):(c&&
(r.boundChange(l),c=!1),p>l&&!mr(n.active,t.active)&&r.compareRange(l,p,n.active,t.active),h&&p<o&&(f||n.openEnd(
d)!=t.openEnd(d))&&(c=!0)),d>o)break;l=d,u<=0&&n.next(),u>=0&&t.next()}}function mr(n,e){if(n.length!=e.length)
return!1;for(let t=0;t<n.length;t++)if(n[t]!=e[t]&&!yr(n[t],e[t]))return!1;return!0}function bn(n,e){for(let t=e,
i=n.length-1;t<i;t++)n[t]=n[t+1];n.pop()}function yn(n,e,t){for(let i=n.length-1;i>=e;i--)n[i+1]=n[i];n[e]=t}function ia(n,e){
let t=-1,i=1e9;for(let s=0;s<e.length;s++)(e[s]-i||n[s].endSide-n[t].endSide)<0&&(t=s,i=e[s]);return t}function pt(n,e,t=n.
length){let i=0;for(let s=0;s<t&&s<n.length;)n.charCodeAt(s)==9?(i+=e-i%e,s++):(i++,s=Z(n,s));return i}function da(n,e,t,i){
for(let s=0,r=0;;){if(r>=e)return s;if(s==n.length)break;r+=n.charCodeAt(s)==9?t-r%t:1,s=Z(n,s)}return i===!0?
-1:n.length}var pa=typeof Symbol>"u"?"__\u037C":Symbol.for("\u037C"),xr=typeof Symbol>"u"?"__styleSet"+Math.floor(Math.random()*
1e8):Symbol("styleSet"),ma=typeof globalThis<"u"?globalThis:typeof window<"u"?window:{},Be=class{constructor(e,t){
this.rules=[];let{finish:i}=t||{};function s(r,o,l,a){let h=[],c=/^@(\w+)\b/.exec(r[0]),f=c&&c[1]=="keyframes";
if(c&&o==null)return l.push(r[0]+";");for(let u in o){let d=o[u];if(/&/.test(u))s(u.split(/,\s*/).map(p=>r.map(
m=>p.replace(/&/,m))).reduce((p,m)=>p.concat(m)),d,l);else if(d&&typeof d=="object"){if(!c)throw new RangeError(
"The value of a property ("+u+") should be a primitive value.");s(ga(u),d,h,f)}else d!=null&&(/^--/.test(u)||(u=
u.replace(/_.*/,"").replace(/[A-Z]/g,p=>"-"+p.toLowerCase())),h.push(u+": "+d+";"))}(h.length||f)&&l.push((i&&
!c&&!a?r.map(i):r).join(", ")+" {"+h.join(" ")+"}")}for(let r in e)s(ga(r),e[r],this.rules)}getRules(){return this.
rules.join(`
`)}static newName(){let e=ma[pa]||1;return ma[pa]=e+1,"\u037C"+e.toString(36)}static mount(e,t,i){let s=e[xr],
r=i&&i.nonce;s?r&&s.setNonce(r):s=new wr(e,r),s.mount(Array.isArray(t)?t:[t],e)}};function ga(n){if(/^@/.test(
n))return[n];let e=[],t=0,i=null,s=0,r=0;for(let o=0;o<n.length;o++){let l=n[o];l=="\\"?o++:l=='"'||l=="'"?l==
i?i=!1:i||(i=l):(l=="["||l=="(")&&!i?t++:(l=="]"||l==")")&&!i?t--:l==","&&!t&&!i&&(e.push(n.slice(r,s)),r=o+1),
/\S/.test(l)?s=o+1:o==r&&r++}return e.push(n.slice(r,s)),e}var ba=new Map,wr=class{constructor(e,t){let i=e.ownerDocument||
e,s=i.defaultView;if(!e.head&&e.adoptedStyleSheets&&s.CSSStyleSheet){let r=ba.get(i);if(r)return e[xr]=r;this.
sheet=new s.CSSStyleSheet,ba.set(i,this)}else this.styleTag=i.createElement("style"),t&&this.styleTag.setAttribute(
"nonce",t);this.modules=[],e[xr]=this}mount(e,t){let i=this.sheet,s=0,r=0,o=!1;for(let l=0;l<e.length;l++){let a=e[l],
h=this.modules.indexOf(a);if(h<r&&h>-1&&(this.modules.splice(h,1),o=!0,r--,h=-1),h==-1){if(this.modules.splice(
r++,0,a),o=!0,i)for(let c=0;c<a.rules.length;c++)i.insertRule(a.rules[c],s++)}else{for(;r<h;)s+=this.modules[r++].
rules.length;s+=a.rules.length,r++}}if(i)t.adoptedStyleSheets.indexOf(this.sheet)<0&&(t.adoptedStyleSheets=[this.
sheet,...t.adoptedStyleSheets]);else{if(o){let a="";for(let h=0;h<this.modules.length;h++)a+=this.modules[h].getRules()+
`
`;this.styleTag.textContent=a}let l=t.head||t;this.styleTag.parentNode!=l&&l.insertBefore(this.styleTag,l.firstChild)}}setNonce(e){
this.styleTag&&this.styleTag.getAttribute("nonce")!=e&&this.styleTag.setAttribute("nonce",e)}};var lt={8:"Backspace",9:"Tab",10:"Enter",12:"NumLock",13:"Enter",16:"Shift",17:"Control",18:"Alt",20:"CapsLock",
27:"Escape",32:" ",33:"PageUp",34:"PageDown",35:"End",36:"Home",37:"ArrowLeft",38:"ArrowUp",39:"ArrowRight",40:"\
ArrowDown",44:"PrintScreen",45:"Insert",46:"Delete",59:";",61:"=",91:"Meta",92:"Meta",106:"*",107:"+",108:",",
109:"-",110:".",111:"/",144:"NumLock",145:"ScrollLock",160:"Shift",161:"Shift",162:"Control",163:"Control",164:"\
Alt",165:"Alt",173:"-",186:";",187:"=",188:",",189:"-",190:".",191:"/",192:"`",219:"[",220:"\\",221:"]",222:"'"},
ii={48:")",49:"!",50:"@",51:"#",52:"$",53:"%",54:"^",55:"&",56:"*",57:"(",59:":",61:"+",173:"_",186:":",187:"+",
188:"<",189:"_",190:">",191:"?",192:"~",219:"{",220:"|",221:"}",222:'"'},Uu=typeof navigator<"u"&&/Mac/.test(navigator.
platform),Gu=typeof navigator<"u"&&/MSIE \d|Trident\/(?:[7-9]|\d{2,})\..*rv:(\d+)/.exec(navigator.userAgent);for(te=
0;te<10;te++)lt[48+te]=lt[96+te]=String(te);var te;for(te=1;te<=24;te++)lt[te+111]="F"+te;var te;for(te=65;te<=
90;te++)lt[te]=String.fromCharCode(te+32),ii[te]=String.fromCharCode(te);var te;for(On in lt)ii.hasOwnProperty(
On)||(ii[On]=lt[On]);var On;function ya(n){var e=Uu&&n.metaKey&&n.shiftKey&&!n.ctrlKey&&!n.altKey||Gu&&n.shiftKey&&
n.key&&n.key.length==1||n.key=="Unidentified",t=!e&&n.key||(n.shiftKey?ii:lt)[n.keyCode]||n.key||"Unidentified";
return t=="Esc"&&(t="Escape"),t=="Del"&&(t="Delete"),t=="Left"&&(t="ArrowLeft"),t=="Up"&&(t="ArrowUp"),t=="Rig\
ht"&&(t="ArrowRight"),t=="Down"&&(t="ArrowDown"),t}function H(){var n=arguments[0];typeof n=="string"&&(n=document.createElement(n));var e=1,t=arguments[1];if(t&&
typeof t=="object"&&t.nodeType==null&&!Array.isArray(t)){for(var i in t)if(Object.prototype.hasOwnProperty.call(
t,i)){var s=t[i];typeof s=="string"?n.setAttribute(i,s):s!=null&&(n[i]=s)}e++}for(;e<arguments.length;e++)xa(n,
arguments[e]);return n}function xa(n,e){if(typeof e=="string")n.appendChild(document.createTextNode(e));else if(e!=
null)if(e.nodeType!=null)n.appendChild(e);else if(Array.isArray(e))for(var t=0;t<e.length;t++)xa(n,e[t]);else throw new RangeError(
"Unsupported child node: "+e)}var me=typeof navigator<"u"?navigator:{userAgent:"",vendor:"",platform:""},Dr=typeof document<"u"?document:{documentElement:{
style:{}}},Pr=/Edge\/(\d+)/.exec(me.userAgent),ih=/MSIE \d/.test(me.userAgent),Rr=/Trident\/(?:[7-9]|\d{2,})\..*rv:(\d+)/.
exec(me.userAgent),ls=!!(ih||Rr||Pr),wa=!ls&&/gecko\/(\d+)/i.test(me.userAgent),kr=!ls&&/Chrome\/(\d+)/.exec(me.
userAgent),ka="webkitFontSmoothing"in Dr.documentElement.style,Br=!ls&&/Apple Computer/.test(me.vendor),va=Br&&
(/Mobile\/\w+/.test(me.userAgent)||me.maxTouchPoints>2),M={mac:va||/Mac/.test(me.platform),windows:/Win/.test(
me.platform),linux:/Linux|X11/.test(me.platform),ie:ls,ie_version:ih?Dr.documentMode||6:Rr?+Rr[1]:Pr?+Pr[1]:0,
gecko:wa,gecko_version:wa?+(/Firefox\/(\d+)/.exec(me.userAgent)||[0,0])[1]:0,chrome:!!kr,chrome_version:kr?+kr[1]:
0,ios:va,android:/Android\b/.test(me.userAgent),webkit:ka,webkit_version:ka?+(/\bAppleWebKit\/(\d+)/.exec(me.userAgent)||
[0,0])[1]:0,safari:Br,safari_version:Br?+(/\bVersion\/(\d+(\.\d+)?)/.exec(me.userAgent)||[0,0])[1]:0,tabSize:Dr.
documentElement.style.tabSize!=null?"tab-size":"-moz-tab-size"};function To(n,e){for(let t in n)t=="class"&&e.
class?e.class+=" "+n.class:t=="style"&&e.style?e.style+=";"+n.style:e[t]=n[t];return e}var Kn=Object.create(null);
function Oo(n,e,t){if(n==e)return!0;n||(n=Kn),e||(e=Kn);let i=Object.keys(n),s=Object.keys(e);if(i.length-0!=s.
length-0)return!1;for(let r of i)if(r!=t&&(s.indexOf(r)==-1||n[r]!==e[r]))return!1;return!0}function _u(n,e){for(let t=n.
attributes.length-1;t>=0;t--){let i=n.attributes[t].name;e[i]==null&&n.removeAttribute(i)}for(let t in e){let i=e[t];
t=="style"?n.style.cssText=i:n.getAttribute(t)!=i&&n.setAttribute(t,i)}}function Sa(n,e,t){let i=!1;if(e)for(let s in e)
t&&s in t||(i=!0,s=="style"?n.style.cssText="":n.removeAttribute(s));if(t)for(let s in t)e&&e[s]==t[s]||(i=!0,
s=="style"?n.style.cssText=t[s]:n.setAttribute(s,t[s]));return i}function Yu(n){let e=Object.create(null);for(let t=0;t<
n.attributes.length;t++){let i=n.attributes[t];e[i.name]=i.value}return e}var we=class{eq(e){return!1}updateDOM(e,t,i){
return!1}compare(e){return this==e||this.constructor==e.constructor&&this.eq(e)}get estimatedHeight(){return-1}get lineBreaks(){
return 0}ignoreEvent(e){return!0}coordsAt(e,t,i){return null}get isHidden(){return!1}get editable(){return!1}destroy(e){}},
oe=(function(n){return n[n.Text=0]="Text",n[n.WidgetBefore=1]="WidgetBefore",n[n.WidgetAfter=2]="WidgetAfter",
n[n.WidgetRange=3]="WidgetRange",n})(oe||(oe={})),P=class extends Re{constructor(e,t,i,s){super(),this.startSide=
e,this.endSide=t,this.widget=i,this.spec=s}get heightRelevant(){return!1}static mark(e){return new Ki(e)}static widget(e){
let t=Math.max(-1e4,Math.min(1e4,e.side||0)),i=!!e.block;return t+=i&&!e.inlineOrder?t>0?3e8:-4e8:t>0?1e8:-1e8,
new Nt(e,t,t,i,e.widget||null,!1)}static replace(e){let t=!!e.block,i,s;if(e.isBlockGap)i=-5e8,s=4e8;else{let{
start:r,end:o}=nh(e,t);i=(r?t?-3e8:-1:5e8)-1,s=(o?t?2e8:1:-6e8)+1}return new Nt(e,i,s,t,e.widget||null,!0)}static line(e){
return new ji(e)}static set(e,t=!1){return W.of(e,t)}hasHeight(){return this.widget?this.widget.estimatedHeight>
-1:!1}};P.none=W.empty;var Ki=class n extends P{constructor(e){let{start:t,end:i}=nh(e);super(t?-1:5e8,i?1:-6e8,
null,e),this.tagName=e.tagName||"span",this.attrs=e.class&&e.attributes?To(e.attributes,{class:e.class}):e.class?
{class:e.class}:e.attributes||Kn}eq(e){return this==e||e instanceof n&&this.tagName==e.tagName&&Oo(this.attrs,
e.attrs)}range(e,t=e){if(e>=t)throw new RangeError("Mark decorations may not be empty");return super.range(e,t)}};
Ki.prototype.point=!1;var ji=class n extends P{constructor(e){super(-2e8,-2e8,null,e)}eq(e){return e instanceof
n&&this.spec.class==e.spec.class&&Oo(this.spec.attributes,e.spec.attributes)}range(e,t=e){if(t!=e)throw new RangeError(
"Line decoration ranges must be zero-length");return super.range(e,t)}};ji.prototype.mapMode=re.TrackBefore;ji.
prototype.point=!0;var Nt=class n extends P{constructor(e,t,i,s,r,o){super(t,i,r,e),this.block=s,this.isReplace=
o,this.mapMode=s?t<=0?re.TrackBefore:re.TrackAfter:re.TrackDel}get type(){return this.startSide!=this.endSide?
oe.WidgetRange:this.startSide<=0?oe.WidgetBefore:oe.WidgetAfter}get heightRelevant(){return this.block||!!this.
widget&&(this.widget.estimatedHeight>=5||this.widget.lineBreaks>0)}eq(e){return e instanceof n&&Xu(this.widget,
e.widget)&&this.block==e.block&&this.startSide==e.startSide&&this.endSide==e.endSide}range(e,t=e){if(this.isReplace&&
(e>t||e==t&&this.startSide>0&&this.endSide<=0))throw new RangeError("Invalid range for replacement decoration");
if(!this.isReplace&&t!=e)throw new RangeError("Widget decorations can only have zero-length ranges");return super.
range(e,t)}};Nt.prototype.point=!0;function nh(n,e=!1){let{inclusiveStart:t,inclusiveEnd:i}=n;return t==null&&
(t=n.inclusive),i==null&&(i=n.inclusive),{start:t??e,end:i??e}}function Xu(n,e){return n==e||!!(n&&e&&n.compare(
e))}function ai(n,e,t,i=0){let s=t.length-1;s>=0&&t[s]+i>=n?t[s]=Math.max(t[s],e):t.push(n,e)}var jn=class n extends Re{constructor(e,t,i){
super(),this.tagName=e,this.attributes=t,this.rank=i}eq(e){return e==this||e instanceof n&&this.tagName==e.tagName&&
Oo(this.attributes,e.attributes)}static create(e){return new n(e.tagName,e.attributes||Kn,e.rank==null?50:Math.
max(0,Math.min(e.rank,100)))}static set(e,t=!1){return W.of(e,t)}};jn.prototype.startSide=jn.prototype.endSide=
-1;var ne=n=>n.nodeType==1,ci=n=>n.nodeType==3;function Ui(n){let e;return n.nodeType==11?e=n.getSelection?n:n.
ownerDocument:e=n,e.getSelection()}function Lr(n,e){return e?n==e||n.contains(e.nodeType!=1?e.parentNode:e):!1}
function Ii(n,e){if(!e.anchorNode)return!1;try{return Lr(n,e.anchorNode)}catch{return!1}}function Wn(n){return ci(
n)?Gi(n,0,n.nodeValue.length).getClientRects():ne(n)?n.getClientRects():[]}function Ni(n,e,t,i){return t?Ca(n,
e,t,i,-1)||Ca(n,e,t,i,1):!1}function bt(n){for(var e=0;;e++)if(n=n.previousSibling,!n)return e}function Un(n){
return ne(n)&&/^(DIV|P|LI|UL|OL|BLOCKQUOTE|DD|DT|H\d|SECTION|PRE)$/.test(n.nodeName)}function Ca(n,e,t,i,s){for(;;){
if(n==t&&e==i)return!0;if(e==(s<0?0:ct(n))){if(n.nodeName=="DIV")return!1;let r=n.parentNode;if(!r||!ne(r))return!1;
e=bt(n)+(s<0?0:1),n=r}else if(ne(n)){if(n=n.childNodes[e+(s<0?-1:0)],ne(n)&&(n.nodeName=="IMG"||n.nodeName=="B\
R"||n.contentEditable=="false"))return!1;e=s<0?ct(n):0}else return!1}}function ct(n){return ci(n)?n.nodeValue.
length:n.childNodes.length}function Gn(n,e){let{left:t,right:i}=n;if(t==i)return n;let s=e?t:i;return{left:s,right:s,
top:n.top,bottom:n.bottom}}function Qu(n){let e=n.visualViewport;return e?{left:0,right:e.width,top:0,bottom:e.
height}:{left:0,right:n.innerWidth,top:0,bottom:n.innerHeight}}function sh(n,e){let t=e.width/n.offsetWidth,i=e.
height/n.offsetHeight;return(t>.995&&t<1.005||!isFinite(t)||Math.abs(e.width-n.offsetWidth)<1)&&(t=1),(i>.995&&
i<1.005||!isFinite(i)||Math.abs(e.height-n.offsetHeight)<1)&&(i=1),{scaleX:t,scaleY:i}}function Ju(n,e,t,i,s,r,o,l){
let a=n.ownerDocument,h=a.defaultView||window;for(let c=n,f=!1;c&&!f;)if(ne(c)){let u,d=c==a.body,p=1,m=1,g=!0,
b=!0;if(d)u=Qu(h);else{let D=getComputedStyle(c);if(/^(fixed|sticky)$/.test(D.position)&&(f=!0),(c.scrollHeight<=
c.clientHeight||!/auto|scroll/.test(D.overflowY))&&(b=!1),(c.scrollWidth<=c.clientWidth||!/auto|scroll/.test(D.
overflowX))&&(g=!1),!g&&!b){c=c.assignedSlot||c.parentNode;continue}let w=c.getBoundingClientRect();({scaleX:p,
scaleY:m}=sh(c,w)),u={left:w.left,right:w.left+c.clientWidth*p,top:w.top,bottom:w.top+c.clientHeight*m}}let T=0,
x=0;if(b)if(s=="nearest")e.top<u.top+o?(x=e.top-(u.top+o),t>0&&e.bottom>u.bottom+x&&(x=e.bottom-u.bottom+o)):e.
bottom>u.bottom-o&&(x=e.bottom-u.bottom+o,t<0&&e.top-x<u.top&&(x=e.top-(u.top+o)));else{let D=e.bottom-e.top,w=u.
bottom-u.top;x=(s=="center"&&D<=w?e.top+D/2-w/2:s=="start"||s=="center"&&t<0?e.top-o:e.bottom-w+o)-u.top}if(g&&
(i=="nearest"?e.left<u.left+r?(T=e.left-(u.left+r),t>0&&e.right>u.right+T&&(T=e.right-u.right+r)):e.right>u.right-
r&&(T=e.right-u.right+r,t<0&&e.left<u.left+T&&(T=e.left-(u.left+r))):T=(i=="center"?e.left+(e.right-e.left)/2-
(u.right-u.left)/2:i=="start"==l?e.left-r:e.right-(u.right-u.left)+r)-u.left),T||x)if(d)h.scrollBy(T,x);else{let D=0,
w=0;if(x){let v=c.scrollTop;c.scrollTop+=x/m,w=(c.scrollTop-v)*m}if(T){let v=c.scrollLeft;c.scrollLeft+=T/p,D=
(c.scrollLeft-v)*p}e={left:e.left-D,top:e.top-w,right:e.right-D,bottom:e.bottom-w},D&&Math.abs(D-T)<1&&(i="nea\
rest"),w&&Math.abs(w-x)<1&&(s="nearest")}if(d)break;(e.top<u.top||e.bottom>u.bottom||e.left<u.left||e.right>u.
right)&&(e={left:Math.max(e.left,u.left),right:Math.min(e.right,u.right),top:Math.max(e.top,u.top),bottom:Math.
min(e.bottom,u.bottom)}),c=c.assignedSlot||c.parentNode}else if(c.nodeType==11)c=c.host;else break}function rh(n,e=!0){
let t=n.ownerDocument,i=null,s=null;for(let r=n.parentNode;r&&!(r==t.body||(!e||i)&&s);)if(ne(r))!s&&r.scrollHeight>
r.clientHeight&&/scroll|auto/.test(getComputedStyle(r).overflowY)&&(s=r),e&&!i&&r.scrollWidth>r.clientWidth&&/scroll|auto/.
test(getComputedStyle(r).overflowX)&&(i=r),r=r.assignedSlot||r.parentNode;else if(r.nodeType==11)r=r.host;else
break;return{x:i,y:s}}var Er=class{constructor(){this.anchorNode=null,this.anchorOffset=0,this.focusNode=null,
this.focusOffset=0}eq(e){return this.anchorNode==e.anchorNode&&this.anchorOffset==e.anchorOffset&&this.focusNode==
e.focusNode&&this.focusOffset==e.focusOffset}setRange(e){let{anchorNode:t,focusNode:i}=e;this.set(t,Math.min(e.
anchorOffset,t?ct(t):0),i,Math.min(e.focusOffset,i?ct(i):0))}set(e,t,i,s){this.anchorNode=e,this.anchorOffset=
t,this.focusNode=i,this.focusOffset=s}};function oh(n){let e=[];for(let t=n;t;t=t.nodeType==11?t.host:t.parentNode)
ne(t)&&e.push({node:t,left:t.scrollLeft,top:t.scrollTop});return e}function lh(n,e=!0){for(let{node:t,left:i,top:s}of n)
e&&t.scrollTop!=s&&(t.scrollTop=s),t.scrollLeft!=i&&(t.scrollLeft=i)}var Lt=null;M.safari&&M.safari_version>=26&&
(Lt=!1);function ah(n){if(n.setActive)return n.setActive();if(Lt)return n.focus(Lt);let e=oh(n);n.focus(Lt==null?
{get preventScroll(){return Lt={preventScroll:!0},!0}}:void 0),Lt||(Lt=!1,lh(e))}var Aa;function Gi(n,e,t=e){let i=Aa||
(Aa=document.createRange());return i.setEnd(n,t),i.setStart(n,e),i}function hi(n,e,t,i){let s={key:e,code:e,keyCode:t,
which:t,cancelable:!0};i&&({altKey:s.altKey,ctrlKey:s.ctrlKey,shiftKey:s.shiftKey,metaKey:s.metaKey}=i);let r=new KeyboardEvent(
"keydown",s);r.synthetic=!0,n.dispatchEvent(r);let o=new KeyboardEvent("keyup",s);return o.synthetic=!0,n.dispatchEvent(
o),r.defaultPrevented||o.defaultPrevented}function Zu(n){for(;n;){if(n&&(n.nodeType==9||n.nodeType==11&&n.host))
return n;n=n.assignedSlot||n.parentNode}return null}function ed(n,e){let t=e.focusNode,i=e.focusOffset;if(!t||
e.anchorNode!=t||e.anchorOffset!=i)return!1;for(i=Math.min(i,ct(t));;)if(i){if(!ne(t))return!1;let s=t.childNodes[i-
1];s.contentEditable=="false"?i--:(t=s,i=ct(t))}else{if(t==n)return!0;i=bt(t),t=t.parentNode}}function hh(n){return n instanceof
Window?n.pageYOffset>Math.max(0,n.document.documentElement.scrollHeight-n.innerHeight-4):n.scrollTop>Math.max(
1,n.scrollHeight-n.clientHeight-4)}function ch(n,e){for(let t=n,i=e;;){if(ci(t)&&i>0)return{node:t,offset:i};if(ne(
t)&&i>0){if(t.contentEditable=="false")return null;t=t.childNodes[i-1],i=ct(t)}else if(t.parentNode&&!Un(t))i=
bt(t),t=t.parentNode;else return null}}function fh(n,e){for(let t=n,i=e;;){if(ci(t)&&i<t.nodeValue.length)return{
node:t,offset:i};if(ne(t)&&i<t.childNodes.length){if(t.contentEditable=="false")return null;t=t.childNodes[i],
i=0}else if(t.parentNode&&!Un(t))i=bt(t)+1,t=t.parentNode;else return null}}var Qe=class n{constructor(e,t,i=!0){
this.node=e,this.offset=t,this.precise=i}static before(e,t){return new n(e.parentNode,bt(e),t)}static after(e,t){
return new n(e.parentNode,bt(e)+1,t)}},z=(function(n){return n[n.LTR=0]="LTR",n[n.RTL=1]="RTL",n})(z||(z={})),
fi=z.LTR,Do=z.RTL;function uh(n){let e=[];for(let t=0;t<n.length;t++)e.push(1<<+n[t]);return e}var td=uh("8888\
88888888888888888888888888888886668888887878333333333378888880000000000000000000000000088888800000000000000000\
00000000088888888888888888888888888888888888887866668888088888663380888308888800000000000000000000000800000000\
000000000000000000000008"),id=uh("4444448826627288999999999992222222222222222222222222222222222222222222222229\
99999999999999999999444444444464422282222222222222222222222222222222222222222222222222222222222222222222222222\
2222222222222222222222222222999999949999999229989999223333333333"),Ir=Object.create(null),Xe=[];for(let n of["\
()","[]","{}"]){let e=n.charCodeAt(0),t=n.charCodeAt(1);Ir[e]=t,Ir[t]=-e}function dh(n){return n<=247?td[n]:1424<=
n&&n<=1524?2:1536<=n&&n<=1785?id[n-1536]:1774<=n&&n<=2220?4:8192<=n&&n<=8204?256:64336<=n&&n<=65023?4:1}var nd=/[\u0590-\u05f4\u0600-\u06ff\u0700-\u08ac\ufb50-\ufdff]/,
Ie=class{get dir(){return this.level%2?Do:fi}constructor(e,t,i){this.from=e,this.to=t,this.level=i}side(e,t){return this.
dir==t==e?this.to:this.from}forward(e,t){return e==(this.dir==t)}static find(e,t,i,s){let r=-1;for(let o=0;o<e.
length;o++){let l=e[o];if(l.from<=t&&l.to>=t){if(l.level==i)return o;(r<0||(s!=0?s<0?l.from<t:l.to>t:e[r].level>
l.level))&&(r=o)}}if(r<0)throw new RangeError("Index out of range");return r}};function ph(n,e){if(n.length!=e.
length)return!1;for(let t=0;t<n.length;t++){let i=n[t],s=e[t];if(i.from!=s.from||i.to!=s.to||i.direction!=s.direction||
!ph(i.inner,s.inner))return!1}return!0}var U=[];function sd(n,e,t,i,s){for(let r=0;r<=i.length;r++){let o=r?i[r-
1].to:e,l=r<i.length?i[r].from:t,a=r?256:s;for(let h=o,c=a,f=a;h<l;h++){let u=dh(n.charCodeAt(h));u==512?u=c:u==
8&&f==4&&(u=16),U[h]=u==4?2:u,u&7&&(f=u),c=u}for(let h=o,c=a,f=a;h<l;h++){let u=U[h];if(u==128)h<l-1&&c==U[h+1]&&
c&24?u=U[h]=c:U[h]=256;else if(u==64){let d=h+1;for(;d<l&&U[d]==64;)d++;let p=h&&c==8||d<t&&U[d]==8?f==1?1:8:256;
for(let m=h;m<d;m++)U[m]=p;h=d-1}else u==8&&f==1&&(U[h]=1);c=u,u&7&&(f=u)}}}function rd(n,e,t,i,s){let r=s==1?
2:1;for(let o=0,l=0,a=0;o<=i.length;o++){let h=o?i[o-1].to:e,c=o<i.length?i[o].from:t;for(let f=h,u,d,p;f<c;f++)
if(d=Ir[u=n.charCodeAt(f)])if(d<0){for(let m=l-3;m>=0;m-=3)if(Xe[m+1]==-d){let g=Xe[m+2],b=g&2?s:g&4?g&1?r:s:0;
b&&(U[f]=U[Xe[m]]=b),l=m;break}}else{if(Xe.length==189)break;Xe[l++]=f,Xe[l++]=u,Xe[l++]=a}else if((p=U[f])==2||
p==1){let m=p==s;a=m?0:1;for(let g=l-3;g>=0;g-=3){let b=Xe[g+2];if(b&2)break;if(m)Xe[g+2]|=2;else{if(b&4)break;
Xe[g+2]|=4}}}}}function od(n,e,t,i){for(let s=0,r=i;s<=t.length;s++){let o=s?t[s-1].to:n,l=s<t.length?t[s].from:
e;for(let a=o;a<l;){let h=U[a];if(h==256){let c=a+1;for(;;)if(c==l){if(s==t.length)break;c=t[s++].to,l=s<t.length?
t[s].from:e}else if(U[c]==256)c++;else break;let f=r==1,u=(c<e?U[c]:i)==1,d=f==u?f?1:2:i;for(let p=c,m=s,g=m?t[m-
1].to:n;p>a;)p==g&&(p=t[--m].from,g=m?t[m-1].to:n),U[--p]=d;a=c}else r=h,a++}}}function Nr(n,e,t,i,s,r,o){let l=i%
2?2:1;if(i%2==s%2)for(let a=e,h=0;a<t;){let c=!0,f=!1;if(h==r.length||a<r[h].from){let m=U[a];m!=l&&(c=!1,f=m==
16)}let u=!c&&l==1?[]:null,d=c?i:i+1,p=a;e:for(;;)if(h<r.length&&p==r[h].from){if(f)break e;let m=r[h];if(!c)for(let g=m.
to,b=h+1;;){if(g==t)break e;if(b<r.length&&r[b].from==g)g=r[b++].to;else{if(U[g]==l)break e;break}}if(h++,u)u.
push(m);else{m.from>a&&o.push(new Ie(a,m.from,d));let g=m.direction==fi!=!(d%2);Fr(n,g?i+1:i,s,m.inner,m.from,
m.to,o),a=m.to}p=m.to}else{if(p==t||(c?U[p]!=l:U[p]==l))break;p++}u?Nr(n,a,p,i+1,s,u,o):a<p&&o.push(new Ie(a,p,
d)),a=p}else for(let a=t,h=r.length;a>e;){let c=!0,f=!1;if(!h||a>r[h-1].to){let m=U[a-1];m!=l&&(c=!1,f=m==16)}
let u=!c&&l==1?[]:null,d=c?i:i+1,p=a;e:for(;;)if(h&&p==r[h-1].to){if(f)break e;let m=r[--h];if(!c)for(let g=m.
from,b=h;;){if(g==e)break e;if(b&&r[b-1].to==g)g=r[--b].from;else{if(U[g-1]==l)break e;break}}if(u)u.push(m);else{
m.to<a&&o.push(new Ie(m.to,a,d));let g=m.direction==fi!=!(d%2);Fr(n,g?i+1:i,s,m.inner,m.from,m.to,o),a=m.from}
p=m.from}else{if(p==e||(c?U[p-1]!=l:U[p-1]==l))break;p--}u?Nr(n,p,a,i+1,s,u,o):p<a&&o.push(new Ie(p,a,d)),a=p}}
function Fr(n,e,t,i,s,r,o){let l=e%2?2:1;sd(n,s,r,i,l),rd(n,s,r,i,l),od(s,r,i,l),Nr(n,s,r,e,t,i,o)}function ld(n,e,t){
if(!n)return[new Ie(0,0,e==Do?1:0)];if(e==fi&&!t.length&&!nd.test(n))return mh(n.length);if(t.length)for(;n.length>
U.length;)U[U.length]=256;let i=[],s=e==fi?0:1;return Fr(n,s,s,t,0,n.length,i),i}function mh(n){return[new Ie(
0,n,0)]}var gh="";function ad(n,e,t,i,s){var r;if(!n.length)return null;let o=i.head-n.from,l;if(i.head==n.from&&
i.assoc<0){if(!s)return null;o=e[l=0].side(!1,t)}else if(i.head==n.to&&i.assoc>0){if(s)return null;o=e[l=e.length-
1].side(!0,t)}else l=Ie.find(e,o,(r=i.bidiLevel)!==null&&r!==void 0?r:-1,i.assoc);let a=e[l],h=a.side(s,t);if(o==
h){let u=l+=s?1:-1;if(u<0||u>=e.length)return null;a=e[l=u],o=a.side(!s,t),h=a.side(s,t)}let c=Z(n.text,o,a.forward(
s,t));(c<a.from||c>a.to)&&(c=h),gh=n.text.slice(Math.min(o,c),Math.max(o,c));let f=l==(s?e.length-1:0)?null:e[l+
(s?1:-1)];if(c==h){if(!f)return s?y.cursor(n.to,1):y.cursor(n.from,-1);if(f.level+(s?0:1)<a.level)return y.cursor(
f.side(!s,t)+n.from,f.forward(s,t)?1:-1,f.level)}return y.cursor(c+n.from,a.forward(s,t)?-1:1,a.level)}function hd(n,e,t){
for(let i=e;i<t;i++){let s=dh(n.charCodeAt(i));if(s==1)return fi;if(s==2||s==4)return Do}}var bh=S.define(),yh=S.
define(),xh=S.define(),wh=S.define(),Wr=S.define(),kh=S.define(),vh=S.define(),Po=S.define(),Ro=S.define(),Sh=S.
define({combine:n=>n.some(e=>e)}),Ch=S.define({combine:n=>n.some(e=>e)}),Ah=S.define(),Fi=class n{constructor(e,t,i,s,r,o=!1){
this.range=e,this.y=t,this.x=i,this.yMargin=s,this.xMargin=r,this.isSnapshot=o}map(e){return e.empty?this:new n(
this.range.map(e),this.y,this.x,this.yMargin,this.xMargin,this.isSnapshot)}clip(e){return this.range.to<=e.doc.
length?this:new n(y.cursor(e.doc.length),this.y,this.x,this.yMargin,this.xMargin,this.isSnapshot)}},Dn=B.define(
{map:(n,e)=>n.map(e)}),Mh=B.define();function ge(n,e,t){let i=n.facet(wh);i.length?i[0](e):window.onerror&&window.
onerror(String(e),t,void 0,void 0,e)||(t?console.error(t+":",e):console.error(e))}var at=S.define({combine:n=>n.
length?n[0]:!0}),cd=0,si=S.define({combine(n){return n.filter((e,t)=>{for(let i=0;i<t;i++)if(n[i].plugin==e.plugin)
return!1;return!0})}}),J=class n{constructor(e,t,i,s,r){this.id=e,this.create=t,this.domEventHandlers=i,this.domEventObservers=
s,this.baseExtensions=r(this),this.extension=this.baseExtensions.concat(si.of({plugin:this,arg:void 0}))}of(e){
return this.baseExtensions.concat(si.of({plugin:this,arg:e}))}static define(e,t){let{eventHandlers:i,eventObservers:s,
provide:r,decorations:o}=t||{};return new n(cd++,e,i,s,l=>{let a=[];return o&&a.push(as.of(h=>{let c=h.plugin(
l);return c?o(c):P.none})),r&&a.push(r(l)),a})}static fromClass(e,t){return n.define((i,s)=>new e(i,s),t)}},Wi=class{constructor(e){
this.spec=e,this.mustUpdate=null,this.value=null}get plugin(){return this.spec&&this.spec.plugin}update(e){if(this.
value){if(this.mustUpdate){let t=this.mustUpdate;if(this.mustUpdate=null,this.value.update)try{this.value.update(
t)}catch(i){if(ge(t.state,i,"CodeMirror plugin crashed"),this.value.destroy)try{this.value.destroy()}catch{}this.
deactivate()}}}else if(this.spec)try{this.value=this.spec.plugin.create(e,this.spec.arg)}catch(t){ge(e.state,t,
"CodeMirror plugin crashed"),this.deactivate()}return this}destroy(e){var t;if(!((t=this.value)===null||t===void 0)&&
t.destroy)try{this.value.destroy()}catch(i){ge(e.state,i,"CodeMirror plugin crashed")}}deactivate(){this.spec=
this.value=null}},Th=S.define(),Bo=S.define(),as=S.define(),Oh=S.define(),Lo=S.define(),_i=S.define(),Dh=S.define();
function Ma(n,e){let t=n.state.facet(Dh);if(!t.length)return t;let i=t.map(r=>r instanceof Function?r(n):r),s=[];
return W.spans(i,e.from,e.to,{point(){},span(r,o,l,a){let h=r-e.from,c=o-e.from,f=s;for(let u=l.length-1;u>=0;u--,
a--){let d=l[u].spec.bidiIsolate,p;if(a>0&&f.length&&(p=f[f.length-1]).to==h&&p.direction==d)p.to=c,f=p.inner;else{
let m={from:h,to:c,direction:d,inner:[]};f.push(m),f=m.inner}}}}),Ph(e.text,s)}function Ph(n,e){for(let t of e){
if(t.direction==null){for(let i=t.from,s=0;i<t.to;s++){let r=s<t.inner.length?t.inner[s]:null,o=hd(n,i,r?r.from:
t.to);if(o){t.direction=o;break}if(!r)break;i=r.to}t.direction==null&&(t.direction=z.LTR)}Ph(n,t.inner)}return e}
var Rh=S.define();function Eo(n){let e=0,t=0,i=0,s=0;for(let r of n.state.facet(Rh)){let o=r(n);o&&(o.left!=null&&
(e=Math.max(e,o.left)),o.right!=null&&(t=Math.max(t,o.right)),o.top!=null&&(i=Math.max(i,o.top)),o.bottom!=null&&
(s=Math.max(s,o.bottom)))}return{left:e,right:t,top:i,bottom:s}}var Li=S.define(),ze=class n{constructor(e,t,i,s){
this.fromA=e,this.toA=t,this.fromB=i,this.toB=s}join(e){return new n(Math.min(this.fromA,e.fromA),Math.max(this.
toA,e.toA),Math.min(this.fromB,e.fromB),Math.max(this.toB,e.toB))}addToSet(e){let t=e.length,i=this;for(;t>0;t--){
let s=e[t-1];if(!(s.fromA>i.toA)){if(s.toA<i.fromA)break;i=i.join(s),e.splice(t-1,1)}}return e.splice(t,0,i),e}static extendWithRanges(e,t){
if(t.length==0)return e;let i=[];for(let s=0,r=0,o=0;;){let l=s<e.length?e[s].fromB:1e9,a=r<t.length?t[r]:1e9,
h=Math.min(l,a);if(h==1e9)break;let c=h+o,f=h,u=c;for(;;)if(r<t.length&&t[r]<=f){let d=t[r+1];r+=2,f=Math.max(
f,d);for(let p=s;p<e.length&&e[p].fromB<=f;p++)o=e[p].toA-e[p].toB;u=Math.max(u,d+o)}else if(s<e.length&&e[s].
fromB<=f){let d=e[s++];f=Math.max(f,d.toB),u=Math.max(u,d.toA),o=d.toA-d.toB}else break;i.push(new n(c,u,h,f))}
return i}},_n=class n{constructor(e,t,i){this.view=e,this.state=t,this.transactions=i,this.flags=0,this.startState=
e.state,this.changes=pe.empty(this.startState.doc.length);for(let r of i)this.changes=this.changes.compose(r.changes);
let s=[];this.changes.iterChangedRanges((r,o,l,a)=>s.push(new ze(r,o,l,a))),this.changedRanges=s}static create(e,t,i){
return new n(e,t,i)}get viewportChanged(){return(this.flags&4)>0}get viewportMoved(){return(this.flags&8)>0}get heightChanged(){
return(this.flags&2)>0}get geometryChanged(){return this.docChanged||(this.flags&18)>0}get focusChanged(){return(this.
flags&1)>0}get docChanged(){return!this.changes.empty}get selectionSet(){return this.transactions.some(e=>e.selection)}get empty(){
return this.flags==0&&this.transactions.length==0}},fd=[],Y=class{constructor(e,t,i=0){this.dom=e,this.length=
t,this.flags=i,this.parent=null,e.cmTile=this}get breakAfter(){return this.flags&1}get children(){return fd}isWidget(){
return!1}get isHidden(){return!1}isComposite(){return!1}isLine(){return!1}isText(){return!1}isBlock(){return!1}get domAttrs(){
return null}sync(e){if(this.flags|=2,this.flags&4){this.flags&=-5;let t=this.domAttrs;t&&_u(this.dom,t)}}toString(){
return this.constructor.name+(this.children.length?`(${this.children})`:"")+(this.breakAfter?"#":"")}destroy(){
this.parent=null}setDOM(e){this.dom=e,e.cmTile=this}get posAtStart(){return this.parent?this.parent.posBefore(
this):0}get posAtEnd(){return this.posAtStart+this.length}posBefore(e,t=this.posAtStart){let i=t;for(let s of this.
children){if(s==e)return i;i+=s.length+s.breakAfter}throw new RangeError("Invalid child in posBefore")}posAfter(e){
return this.posBefore(e)+e.length}covers(e){return!0}coordsIn(e,t,i){return null}domPosFor(e,t){let i=bt(this.
dom),s=this.length?e>0:t>0;return new Qe(this.parent.dom,i+(s?1:0),e==0||e==this.length)}markDirty(e){this.flags&=
-3,e&&(this.flags|=4),this.parent&&this.parent.flags&2&&this.parent.markDirty(!1)}get overrideDOMText(){return null}get root(){
for(let e=this;e;e=e.parent)if(e instanceof di)return e;return null}static get(e){return e.cmTile}},ui=class extends Y{constructor(e){
super(e,0),this._children=[]}isComposite(){return!0}get children(){return this._children}get lastChild(){return this.
children.length?this.children[this.children.length-1]:null}append(e){this.children.push(e),e.parent=this}sync(e){
if(this.flags&2)return;super.sync(e);let t=this.dom,i=null,s,r=e?.node==t?e:null,o=0;for(let l of this.children){
if(l.sync(e),o+=l.length+l.breakAfter,s=i?i.nextSibling:t.firstChild,r&&s!=l.dom&&(r.written=!0),l.dom.parentNode==
t)for(;s&&s!=l.dom;)s=Ta(s);else t.insertBefore(l.dom,s);i=l.dom}for(s=i?i.nextSibling:t.firstChild,r&&s&&(r.written=
!0);s;)s=Ta(s);this.length=o}};function Ta(n){let e=n.nextSibling;return n.parentNode.removeChild(n),e}var di=class extends ui{constructor(e,t){
super(t),this.view=e}owns(e){for(;e;e=e.parent)if(e==this)return!0;return!1}isBlock(){return!0}nearest(e){for(;;){
if(!e)return null;let t=Y.get(e);if(t&&this.owns(t))return t;e=e.parentNode}}blockTiles(e){for(let t=[],i=this,
s=0,r=0;;)if(s==i.children.length){if(!t.length)return;i=i.parent,i.breakAfter&&r++,s=t.pop()}else{let o=i.children[s++];
if(o instanceof ht)t.push(s),i=o,s=0;else{let l=r+o.length,a=e(o,r);if(a!==void 0)return a;r=l+o.breakAfter}}}resolveBlock(e,t){
let i,s=-1,r,o=-1;if(this.blockTiles((l,a)=>{let h=a+l.length;if(e>=a&&e<=h){if(l.isWidget()&&t>=-1&&t<=1){if(l.
flags&32)return!0;l.flags&16&&(i=void 0)}(a<e||e==h&&(t<-1?l.length:l.covers(1)))&&(!i||!l.isWidget()&&i.isWidget())&&
(i=l,s=e-a),(h>e||e==a&&(t>1?l.length:l.covers(-1)))&&(!r||!l.isWidget()&&r.isWidget())&&(r=l,o=e-a)}}),!i&&!r)
throw new Error("No tile at position "+e);return i&&t<0||!r?{tile:i,offset:s}:{tile:r,offset:o}}},ht=class n extends ui{constructor(e,t){
super(e),this.wrapper=t}isBlock(){return!0}covers(e){return this.children.length?e<0?this.children[0].covers(-1):
this.lastChild.covers(1):!1}get domAttrs(){return this.wrapper.attributes}static of(e,t){let i=new n(t||document.
createElement(e.tagName),e);return t||(i.flags|=4),i}},pi=class n extends ui{constructor(e,t){super(e),this.attrs=
t}isLine(){return!0}static start(e,t,i){let s=new n(t||document.createElement("div"),e);return(!t||!i)&&(s.flags|=
4),s}get domAttrs(){return this.attrs}resolveInline(e,t,i=!1){let s=null,r=-1,o=null,l=-1;function a(c,f){for(let u=0,
d=0;u<c.children.length&&d<=f;u++){let p=c.children[u],m=d+p.length;m>=f&&(p.isComposite()?a(p,f-d):(!o||i&&o.
isHidden&&(t>0&&!(o.flags&32)||i&&dd(o,p)))&&(m>f||p.flags&32&&t<=1)?(o=p,l=f-d):(d<f||p.flags&16&&!(i&&p.isHidden)&&
t>=-1)&&(s=p,r=f-d)),d=m}}a(this,e);let h=(t<0?s:o)||s||o;return h?{tile:h,offset:h==s?r:l}:null}coordsIn(e,t,i){
let s=this.resolveInline(e,t,!0);return s?s.tile.coordsIn(Math.max(0,s.offset),t,i):ud(this)}domIn(e,t){let i=this.
resolveInline(e,t);if(i){let{tile:s,offset:r}=i;if(this.dom.contains(s.dom))return s.isText()?new Qe(s.dom,Math.
min(s.dom.nodeValue.length,r)):s.domPosFor(r,s.flags&16?1:s.flags&32?-1:t);let o=i.tile.parent,l=!1;for(let a of o.
children){if(l)return new Qe(a.dom,0);a==i.tile&&(l=!0)}}return new Qe(this.dom,0)}};function ud(n){let e=n.dom.
lastChild;if(!e)return n.dom.getBoundingClientRect();let t=Wn(e);return t[t.length-1]||null}function dd(n,e){let t=n.
coordsIn(0,1),i=e.coordsIn(0,1);return t&&i&&i.top<t.bottom}var xe=class n extends ui{constructor(e,t){super(e),
this.mark=t}get domAttrs(){return this.mark.attrs}static of(e,t){let i=new n(t||document.createElement(e.tagName),
e);return t||(i.flags|=4),i}},Et=class n extends Y{constructor(e,t){super(e,t.length),this.text=t}sync(e){this.
flags&2||(super.sync(e),this.dom.nodeValue!=this.text&&(e&&e.node==this.dom&&(e.written=!0),this.dom.nodeValue=
this.text))}isText(){return!0}toString(){return JSON.stringify(this.text)}coordsIn(e,t,i){let s=this.dom.nodeValue.
length;e>s&&(e=s);let r=e,o=e,l=0;e==0&&t<0||e==s&&t>=0?M.chrome||M.gecko||(e?(r--,l=1):o<s&&(o++,l=-1)):t<0?r--:
o<s&&o++;let a=Gi(this.dom,r,o).getClientRects();if(!a.length)return null;let h=a[(l?l<0:t>=0)?0:a.length-1];return M.
safari&&!l&&h.width==0&&(h=Array.prototype.find.call(a,c=>c.width)||h),i==null?h:Gn(h,(l?l>0:t<0)==i)}static of(e,t){
let i=new n(t||document.createTextNode(e),e);return t||(i.flags|=2),i}},Ft=class n extends Y{constructor(e,t,i,s){
super(e,t,s),this.widget=i}isWidget(){return!0}get isHidden(){return this.widget.isHidden}covers(e){return this.
flags&48?!1:(this.flags&(e<0?64:128))>0}coordsIn(e,t){return this.coordsInWidget(e,t,!1)}coordsInWidget(e,t,i){
let s=this.widget.coordsAt(this.dom,e,t);if(s)return s;if(i)return Gn(this.dom.getBoundingClientRect(),this.length?
e==0:t<=0);{let r=this.dom.getClientRects(),o=null;if(!r.length)return null;let l=this.flags&16?!0:this.flags&
32?!1:e>0;for(let a=l?r.length-1:0;o=r[a],!(e>0?a==0:a==r.length-1||o.top<o.bottom);a+=l?-1:1);return Gn(o,!l)}}get overrideDOMText(){
if(!this.length)return F.empty;let{root:e}=this;if(!e)return F.empty;let t=this.posAtStart;return e.view.state.
doc.slice(t,t+this.length)}destroy(){super.destroy(),this.widget.destroy(this.dom)}static of(e,t,i,s,r){return r||
(r=e.toDOM(t),e.editable||(r.contentEditable="false")),new n(r,i,e,s)}},mi=class extends Y{constructor(e){let t=document.
createElement("img");t.className="cm-widgetBuffer",t.setAttribute("aria-hidden","true"),super(t,0,e)}get isHidden(){
return!0}get overrideDOMText(){return F.empty}coordsIn(e,t,i){let s=this.dom.getBoundingClientRect();return i==
null?s:Gn(s,t>0==i)}},Hr=class{constructor(e){this.index=0,this.beforeBreak=!1,this.parents=[],this.tile=e}advance(e,t,i){
let{tile:s,index:r,beforeBreak:o,parents:l}=this;for(;e||t>0;)if(s.isComposite())if(o){if(!e)break;i&&i.break(),
e--,o=!1}else if(r==s.children.length){if(!e&&!l.length)break;i&&i.leave(s),o=!!s.breakAfter,{tile:s,index:r}=
l.pop(),r++}else{let a=s.children[r],h=a.breakAfter;(t>0?a.length<=e:a.length<e)&&(!i||i.skip(a,0,a.length)!==
!1||!a.isComposite)?(o=!!h,r++,e-=a.length):(l.push({tile:s,index:r}),s=a,r=0,i&&a.isComposite()&&i.enter(a))}else{
let a=s.length;if(r<a&&e){let h=Math.min(e,a-r);i&&i.skip(s,r,r+h),e-=h,r+=h}if(r==a)o=!!s.breakAfter,{tile:s,
index:r}=l.pop(),r++;else if(!e)break}return this.tile=s,this.index=r,this.beforeBreak=o,this}get root(){return this.
parents.length?this.parents[0].tile:this.tile}},Vr=class{constructor(e,t,i,s){this.from=e,this.to=t,this.wrapper=
i,this.rank=s}},zr=class{constructor(e,t,i){this.cache=e,this.root=t,this.blockWrappers=i,this.curLine=null,this.
lastBlock=null,this.afterWidget=null,this.pos=0,this.wrappers=[],this.wrapperPos=0}addText(e,t,i,s){var r;this.
flushBuffer();let o=this.ensureMarks(t,i),l=o.lastChild;if(l&&l.isText()&&!(l.flags&8)&&l.length+e.length<512){
this.cache.reused.set(l,2);let a=o.children[o.children.length-1]=new Et(l.dom,l.text+e);a.parent=o}else o.append(
s||Et.of(e,(r=this.cache.find(Et))===null||r===void 0?void 0:r.dom));this.pos+=e.length,this.afterWidget=null}addComposition(e,t){
let i=this.curLine;i.dom!=t.line.dom&&(i.setDOM(this.cache.reused.has(t.line)?vr(t.line.dom):t.line.dom),this.
cache.reused.set(t.line,2));let s=i;for(let l=t.marks.length-1;l>=0;l--){let a=t.marks[l],h=s.lastChild;if(h instanceof
xe&&h.mark.eq(a.mark))h.dom!=a.dom&&h.setDOM(vr(a.dom)),s=h;else{let{dom:c}=a;this.cache.reused.get(a)&&Y.get(
a.dom)&&(c=vr(a.dom));let f=xe.of(a.mark,c);s.append(f),s=f}this.cache.reused.set(a,2)}let r=Y.get(e.text);r&&
this.cache.reused.set(r,2);let o=new Et(e.text,e.text.nodeValue);o.flags|=8,this.pos=e.range.toB,s.append(o)}addInlineWidget(e,t,i){
let s=this.afterWidget&&e.flags&48&&(this.afterWidget.flags&48)==(e.flags&48);s||this.flushBuffer();let r=this.
ensureMarks(t,i);!s&&!(e.flags&16)&&r.append(this.getBuffer(1)),r.append(e),this.pos+=e.length,this.afterWidget=
e}addMark(e,t,i){this.flushBuffer(),this.ensureMarks(t,i).append(e),this.pos+=e.length,this.afterWidget=null}addBlockWidget(e){
this.getBlockPos().append(e),this.pos+=e.length,this.lastBlock=e,this.endLine()}continueWidget(e){let t=this.afterWidget||
this.lastBlock;t.length+=e,this.pos+=e}addLineStart(e,t){var i;e||(e=Bh);let s=pi.start(e,t||((i=this.cache.find(
pi))===null||i===void 0?void 0:i.dom),!!t);this.getBlockPos().append(this.lastBlock=this.curLine=s)}addLine(e){
this.getBlockPos().append(e),this.pos+=e.length,this.lastBlock=e,this.endLine()}addBreak(){this.lastBlock.flags|=
1,this.endLine(),this.pos++}addLineStartIfNotCovered(e){this.blockPosCovered()||this.addLineStart(e)}ensureLine(e){
this.curLine||this.addLineStart(e)}ensureMarks(e,t){var i;let s=this.curLine;for(let r=e.length-1;r>=0;r--){let o=e[r],
l;if(t>0&&(l=s.lastChild)&&l instanceof xe&&l.mark.eq(o))s=l,t--;else{let a=xe.of(o,(i=this.cache.find(xe,h=>h.
mark.eq(o)))===null||i===void 0?void 0:i.dom);s.append(a),s=a,t=0}}return s}endLine(){if(this.curLine){this.flushBuffer();
let e=this.curLine.lastChild;(!e||!Oa(this.curLine,!1)||e.dom.nodeName!="BR"&&e.isWidget()&&!(M.ios&&Oa(this.curLine,
!0)))&&this.curLine.append(this.cache.findWidget(Sr,0,32)||new Ft(Sr.toDOM(),0,Sr,32)),this.curLine=this.afterWidget=
null}}updateBlockWrappers(){this.wrapperPos>this.pos+1e4&&(this.blockWrappers.goto(this.pos),this.wrappers.length=
0);for(let e=this.wrappers.length-1;e>=0;e--)this.wrappers[e].to<this.pos&&this.wrappers.splice(e,1);for(let e=this.
blockWrappers;e.value&&e.from<=this.pos;e.next())if(e.to>=this.pos){let t=e.rank*102+e.value.rank,i=new Vr(e.from,
e.to,e.value,t),s=this.wrappers.length;for(;s>0&&(this.wrappers[s-1].rank-i.rank||this.wrappers[s-1].to-i.to)<
0;)s--;this.wrappers.splice(s,0,i)}this.wrapperPos=this.pos}getBlockPos(){var e;this.updateBlockWrappers();let t=this.
root;for(let i of this.wrappers){let s=t.lastChild;if(i.from<this.pos&&s instanceof ht&&s.wrapper.eq(i.wrapper))
t=s;else{let r=ht.of(i.wrapper,(e=this.cache.find(ht,o=>o.wrapper.eq(i.wrapper)))===null||e===void 0?void 0:e.
dom);t.append(r),t=r}}return t}blockPosCovered(){let e=this.lastBlock;return e!=null&&!e.breakAfter&&(!e.isWidget()||
(e.flags&160)>0)}getBuffer(e){let t=2|(e<0?16:32),i=this.cache.find(mi,void 0,1);return i&&(i.flags=t),i||new mi(
t)}flushBuffer(){this.afterWidget&&!(this.afterWidget.flags&32)&&(this.afterWidget.parent.append(this.getBuffer(
-1)),this.afterWidget=null)}},qr=class{constructor(e){this.skipCount=0,this.text="",this.textOff=0,this.cursor=
e.iter()}skip(e){this.textOff+e<=this.text.length?this.textOff+=e:(this.skipCount+=e-(this.text.length-this.textOff),
this.text="",this.textOff=0)}next(e){if(this.textOff==this.text.length){let{value:s,lineBreak:r,done:o}=this.cursor.
next(this.skipCount);if(this.skipCount=0,o)throw new Error("Ran out of text content when drawing inline views");
this.text=s;let l=this.textOff=Math.min(e,s.length);return r?null:s.slice(0,l)}let t=Math.min(this.text.length,
this.textOff+e),i=this.text.slice(this.textOff,t);return this.textOff=t,i}},Yn=[Ft,pi,Et,xe,mi,ht,di];for(let n=0;n<
Yn.length;n++)Yn[n].bucket=n;var $r=class{constructor(e){this.view=e,this.buckets=Yn.map(()=>[]),this.index=Yn.
map(()=>0),this.reused=new Map}add(e){let t=e.constructor.bucket,i=this.buckets[t];i.length<6?i.push(e):i[this.
index[t]=(this.index[t]+1)%6]=e}find(e,t,i=2){let s=e.bucket,r=this.buckets[s],o=this.index[s];for(let l=0;l<r.
length;l++){let a=(l+o)%r.length,h=r[a];if((!t||t(h))&&!this.reused.has(h))return r.splice(a,1),a<o&&this.index[s]--,
this.reused.set(h,i),h}return null}findWidget(e,t,i){let s=this.buckets[0];if(s.length)for(let r=0,o=0;;r++){if(r==
s.length){if(o)return null;o=1,r=0}let l=s[r];if(!this.reused.has(l)&&(o==0?l.widget.compare(e):l.widget.constructor==
e.constructor&&e.updateDOM(l.dom,this.view,l.widget)))return s.splice(r,1),r<this.index[0]&&this.index[0]--,l.
widget==e&&l.length==t&&(l.flags&497)==i?(this.reused.set(l,1),l):(this.reused.set(l,2),new Ft(l.dom,t,e,l.flags&
-498|i))}}reuse(e){return this.reused.set(e,1),e}maybeReuse(e,t=2){if(!this.reused.has(e))return this.reused.set(
e,t),e.dom}clear(){for(let e=0;e<this.buckets.length;e++)this.buckets[e].length=this.index[e]=0}},Kr=class{constructor(e,t,i,s,r){
this.view=e,this.decorations=s,this.disallowBlockEffectsFor=r,this.openWidget=!1,this.openMarks=0,this.cache=new $r(
e),this.text=new qr(e.state.doc),this.builder=new zr(this.cache,new di(e,e.contentDOM),W.iter(i)),this.cache.reused.
set(t,2),this.old=new Hr(t),this.reuseWalker={skip:(o,l,a)=>{if(this.cache.add(o),o.isComposite())return!1},enter:o=>this.
cache.add(o),leave:()=>{},break:()=>{}}}run(e,t){let i=t&&this.getCompositionContext(t.text);for(let s=0,r=0,o=0;;){
let l=o<e.length?e[o++]:null,a=l?l.fromA:this.old.root.length;if(a>s){let h=a-s;this.preserve(h,!o,!l),s=a,r+=
h}if(!l)break;t&&l.fromA<=t.range.fromA&&l.toA>=t.range.toA?(this.forward(l.fromA,t.range.fromA,t.range.fromA<
t.range.toA?1:-1),this.emit(r,t.range.fromB),this.builder.flushBuffer(),this.cache.clear(),this.builder.addComposition(
t,i),this.text.skip(t.range.toB-t.range.fromB),this.forward(t.range.fromA,l.toA),this.emit(t.range.toB,l.toB)):
(this.forward(l.fromA,l.toA),this.emit(r,l.toB)),r=l.toB,s=l.toA}return this.builder.curLine&&this.builder.endLine(),
this.builder.root}preserve(e,t,i){let s=gd(this.old),r=this.openMarks;this.old.advance(e,i?1:-1,{skip:(o,l,a)=>{
if(o.isWidget())if(this.openWidget)this.builder.continueWidget(a-l);else{let h=a>0||l<o.length?Ft.of(o.widget,
this.view,a-l,o.flags&496,this.cache.maybeReuse(o)):this.cache.reuse(o);h.flags&256?(h.flags&=-2,this.builder.
addBlockWidget(h)):(this.builder.ensureLine(null),this.builder.addInlineWidget(h,s,r),r=s.length)}else if(o.isText())
this.builder.ensureLine(null),!l&&a==o.length&&!this.cache.reused.has(o)?this.builder.addText(o.text,s,r,this.
cache.reuse(o)):(this.cache.add(o),this.builder.addText(o.text.slice(l,a),s,r)),r=s.length;else if(o.isLine())
o.flags&=-2,this.cache.reused.set(o,1),this.builder.addLine(o);else if(o instanceof mi)this.cache.add(o);else if(o instanceof
xe)this.builder.ensureLine(null),this.builder.addMark(o,s,r),this.cache.reused.set(o,1),r=s.length;else return!1;
this.openWidget=!1},enter:o=>{o.isLine()?this.builder.addLineStart(o.attrs,this.cache.maybeReuse(o)):(this.cache.
add(o),o instanceof xe&&s.unshift(o.mark)),this.openWidget=!1},leave:o=>{o.isLine()?s.length&&(s.length=r=0):o instanceof
xe&&(s.shift(),r=Math.min(r,s.length))},break:()=>{this.builder.addBreak(),this.openWidget=!1}}),this.text.skip(
e)}emit(e,t){let i=null,s=this.builder,r=-1,o=W.spans(this.decorations,e,t,{point:(l,a,h,c,f,u)=>{if(h instanceof
Nt){if(this.disallowBlockEffectsFor[u]){if(h.block)throw new RangeError("Block decorations may not be specifie\
d via plugins");if(a>this.view.state.doc.lineAt(l).to)throw new RangeError("Decorations that replace line brea\
ks may not be specified via plugins")}if(r=c.length,f>c.length)s.continueWidget(a-l);else{let d=h.widget||(h.block?
yt.block:yt.inline),p=pd(h),m=this.cache.findWidget(d,a-l,p)||Ft.of(d,this.view,a-l,p);h.block?(h.startSide>0&&
s.addLineStartIfNotCovered(i),s.addBlockWidget(m)):(s.ensureLine(i),s.addInlineWidget(m,c,f))}i=null}else i=md(
i,h);a>l&&this.text.skip(a-l)},span:(l,a,h,c)=>{for(let f=l;f<a;){let u=this.text.next(Math.min(512,a-f));u==null?
(s.addLineStartIfNotCovered(i),s.addBreak(),f++):(s.ensureLine(i),s.addText(u,h,f==l?c:h.length),f+=u.length),
i=null}r=h.length}});r>-1&&(this.openWidget=o>r),this.openWidget||s.addLineStartIfNotCovered(i),this.openMarks=
o}forward(e,t,i=1){t-e<=10?this.old.advance(t-e,i,this.reuseWalker):(this.old.advance(5,-1,this.reuseWalker),this.
old.advance(t-e-10,-1),this.old.advance(5,i,this.reuseWalker))}getCompositionContext(e){let t=[],i=null;for(let s=e.
parentNode;;s=s.parentNode){let r=Y.get(s);if(s==this.view.contentDOM)break;r instanceof xe?t.push(r):r?.isLine()?
i=r:r instanceof ht||(s.nodeName=="DIV"&&!i?i=new pi(s,Bh):i||t.push(xe.of(new Ki({tagName:s.nodeName.toLowerCase(),
attributes:Yu(s)}),s)))}return i?{line:i,marks:t}:null}};function Oa(n,e){let t=i=>{for(let s of i.children)if((e?
s.isText():s.length)||t(s))return!0;return!1};return t(n)}function pd(n){let e=n.isReplace?(n.startSide<0?64:0)|
(n.endSide>0?128:0):n.startSide>0?32:16;return n.block&&(e|=256),e}var Bh={class:"cm-line"};function md(n,e){let t=e.
spec.attributes,i=e.spec.class;return!t&&!i||(n||(n={class:"cm-line"}),t&&To(t,n),i&&(n.class+=" "+i)),n}function gd(n){
let e=[];for(let t=n.parents.length;t>1;t--){let i=t==n.parents.length?n.tile:n.parents[t].tile;i instanceof xe&&
e.push(i.mark)}return e}function vr(n){let e=Y.get(n);return e&&e.setDOM(n.cloneNode()),n}var yt=class extends we{constructor(e){
super(),this.tag=e}eq(e){return e.tag==this.tag}toDOM(){return document.createElement(this.tag)}updateDOM(e){return e.
nodeName.toLowerCase()==this.tag}get isHidden(){return!0}};yt.inline=new yt("span");yt.block=new yt("div");var Sr=new class extends we{toDOM(){
return document.createElement("br")}get isHidden(){return!0}get editable(){return!0}},Xn=class{constructor(e){
this.view=e,this.decorations=[],this.blockWrappers=[],this.dynamicDecorationMap=[!1],this.domChanged=null,this.
hasComposition=null,this.editContextFormatting=P.none,this.lastCompositionAfterCursor=!1,this.minWidth=0,this.
minWidthFrom=0,this.minWidthTo=0,this.impreciseAnchor=null,this.impreciseHead=null,this.forceSelection=!1,this.
lastUpdate=Date.now(),this.updateDeco(),this.tile=new di(e,e.contentDOM),this.updateInner([new ze(0,0,0,e.state.
doc.length)],null)}update(e){var t;let i=e.changedRanges;this.minWidth>0&&i.length&&(i.every(({fromA:c,toA:f})=>f<
this.minWidthFrom||c>this.minWidthTo)?(this.minWidthFrom=e.changes.mapPos(this.minWidthFrom,1),this.minWidthTo=
e.changes.mapPos(this.minWidthTo,1)):this.minWidth=this.minWidthFrom=this.minWidthTo=0),this.updateEditContextFormatting(
e);let s=-1;this.view.inputState.composing>=0&&!this.view.observer.editContext&&(!((t=this.domChanged)===null||
t===void 0)&&t.newSel?s=this.domChanged.newSel.head:!Cd(e.changes,this.hasComposition)&&!e.selectionSet&&(s=e.
state.selection.main.head));let r=s>-1?yd(this.view,e.changes,s):null;if(this.domChanged=null,this.hasComposition){
let{from:c,to:f}=this.hasComposition;i=new ze(c,f,e.changes.mapPos(c,-1),e.changes.mapPos(f,1)).addToSet(i.slice())}
this.hasComposition=r?{from:r.range.fromB,to:r.range.toB}:null,(M.ie||M.chrome)&&!r&&e&&e.state.doc.lines!=e.startState.
doc.lines&&(this.forceSelection=!0);let o=this.decorations,l=this.blockWrappers;this.updateDeco();let a=kd(o,this.
decorations,e.changes);a.length&&(i=ze.extendWithRanges(i,a));let h=vd(l,this.blockWrappers,e.changes);return h.
length&&(i=ze.extendWithRanges(i,h)),r&&!i.some(c=>c.fromA<=r.range.fromA&&c.toA>=r.range.toA)&&(i=r.range.addToSet(
i.slice())),this.tile.flags&2&&i.length==0?!1:(this.updateInner(i,r),e.transactions.length&&(this.lastUpdate=Date.
now()),!0)}updateInner(e,t){this.view.viewState.mustMeasureContent=!0;let{observer:i}=this.view;i.ignore(()=>{
if(t||e.length){let o=this.tile,l=new Kr(this.view,o,this.blockWrappers,this.decorations,this.dynamicDecorationMap);
t&&Y.get(t.text)&&l.cache.reused.set(Y.get(t.text),2),this.tile=l.run(e,t),jr(o,l.cache.reused)}this.tile.dom.
style.height=this.view.viewState.contentHeight/this.view.scaleY+"px",this.tile.dom.style.flexBasis=this.minWidth?
this.minWidth+"px":"";let r=M.chrome||M.ios?{node:i.selectionRange.focusNode,written:!1}:void 0;this.tile.sync(
r),r&&(r.written||i.selectionRange.focusNode!=r.node||!this.tile.dom.contains(r.node))&&(this.forceSelection=!0),
this.tile.dom.style.height=""});let s=[];if(this.view.viewport.from||this.view.viewport.to<this.view.state.doc.
length)for(let r of this.tile.children)r.isWidget()&&r.widget instanceof Hi&&s.push(r.dom);i.updateGaps(s)}updateEditContextFormatting(e){
this.editContextFormatting=this.editContextFormatting.map(e.changes);for(let t of e.transactions)for(let i of t.
effects)i.is(Mh)&&(this.editContextFormatting=i.value)}updateSelection(e=!1,t=!1){(e||!this.view.observer.selectionRange.
focusNode)&&this.view.observer.readSelectionRange();let{dom:i}=this.tile,s=this.view.root.activeElement,r=s==i,
o=!r&&!(this.view.state.facet(at)||i.tabIndex>-1)&&Ii(i,this.view.observer.selectionRange)&&!(s&&i.contains(s));
if(!(r||t||o))return;let l=this.forceSelection;this.forceSelection=!1;let a=this.view.state.selection.main,h,c;
if(a.empty?c=h=this.inlineDOMNearPos(a.anchor,a.assoc||1):(c=this.inlineDOMNearPos(a.head,a.head==a.from?1:-1),
h=this.inlineDOMNearPos(a.anchor,a.anchor==a.from?1:-1)),M.gecko&&a.empty&&!this.hasComposition&&bd(h)){let u=document.
createTextNode("");this.view.observer.ignore(()=>h.node.insertBefore(u,h.node.childNodes[h.offset]||null)),h=c=
new Qe(u,0),l=!0}let f=this.view.observer.selectionRange;(l||!f.focusNode||(!Ni(h.node,h.offset,f.anchorNode,f.
anchorOffset)||!Ni(c.node,c.offset,f.focusNode,f.focusOffset))&&!this.suppressWidgetCursorChange(f,a))&&(this.
view.observer.ignore(()=>{M.android&&M.chrome&&i.contains(f.focusNode)&&Sd(f.focusNode,i)&&(i.blur(),i.focus({
preventScroll:!0}));let u=Ui(this.view.root);if(u)if(a.empty){if(M.gecko){let d=xd(h.node,h.offset);if(d&&d!=3){
let p=(d==1?ch:fh)(h.node,h.offset);p&&(h=new Qe(p.node,p.offset))}}u.collapse(h.node,h.offset),a.bidiLevel!=null&&
u.caretBidiLevel!==void 0&&(u.caretBidiLevel=a.bidiLevel)}else if(u.extend){u.collapse(h.node,h.offset);try{u.
extend(c.node,c.offset)}catch{}}else{let d=document.createRange();a.anchor>a.head&&([h,c]=[c,h]),d.setEnd(c.node,
c.offset),d.setStart(h.node,h.offset),u.removeAllRanges(),u.addRange(d)}o&&this.view.root.activeElement==i&&(i.
blur(),s&&s.focus())}),this.view.observer.setSelectionRange(h,c)),this.impreciseAnchor=h.precise?null:new Qe(f.
anchorNode,f.anchorOffset),this.impreciseHead=c.precise?null:new Qe(f.focusNode,f.focusOffset)}suppressWidgetCursorChange(e,t){
return this.hasComposition&&t.empty&&Ni(e.focusNode,e.focusOffset,e.anchorNode,e.anchorOffset)&&this.posFromDOM(
e.focusNode,e.focusOffset)==t.head}enforceCursorAssoc(){if(this.hasComposition)return;let{view:e}=this,t=e.state.
selection.main,i=Ui(e.root),{anchorNode:s,anchorOffset:r}=e.observer.selectionRange;if(!i||!t.empty||!t.assoc||
!i.modify)return;let o=this.lineAt(t.head,t.assoc);if(!o)return;let l=o.posAtStart;if(t.head==l||t.head==l+o.length)
return;let a=this.coordsAt(t.head,-1),h=this.coordsAt(t.head,1);if(!a||!h||a.bottom>h.top)return;let c=this.domAtPos(
t.head+t.assoc,t.assoc);i.collapse(c.node,c.offset),i.modify("move",t.assoc<0?"forward":"backward","linebounda\
ry"),e.observer.readSelectionRange();let f=e.observer.selectionRange;e.docView.posFromDOM(f.anchorNode,f.anchorOffset)!=
t.from&&i.collapse(s,r)}posFromDOM(e,t){let i=this.tile.nearest(e);if(!i)return this.tile.dom.compareDocumentPosition(
e)&2?0:this.view.state.doc.length;let s=i.posAtStart;if(i.isComposite()){let r;if(e==i.dom)r=i.dom.childNodes[t];else{
let o=ct(e)==0?0:t==0?-1:1;for(;;){let l=e.parentNode;if(l==i.dom)break;o==0&&l.firstChild!=l.lastChild&&(e==l.
firstChild?o=-1:o=1),e=l}o<0?r=e:r=e.nextSibling}if(r==i.dom.firstChild)return s;for(;r&&!Y.get(r);)r=r.nextSibling;
if(!r)return s+i.length;for(let o=0,l=s;;o++){let a=i.children[o];if(a.dom==r)return l;l+=a.length+a.breakAfter}}else
return i.isText()?e==i.dom?s+t:s+(t?i.length:0):s}domAtPos(e,t){let{tile:i,offset:s}=this.tile.resolveBlock(e,
t);return i.isWidget()?i.domPosFor(s,t):i.domIn(s,t)}inlineDOMNearPos(e,t){let i,s=-1,r=!1,o,l=-1,a=!1;return this.
tile.blockTiles((h,c)=>{if(h.isWidget()){if(h.flags&32&&c>=e)return!0;h.flags&16&&(r=!0)}else{let f=c+h.length;
if(c<=e&&(i=h,s=e-c,r=f<e),f>=e&&!o&&(o=h,l=e-c,a=c>e),c>e&&o)return!0}}),!i&&!o?this.domAtPos(e,t):(r&&o?i=null:
a&&i&&(o=null),i&&t<0||!o?i.domIn(s,t):o.domIn(l,t))}coordsAt(e,t,i){let{tile:s,offset:r}=this.tile.resolveBlock(
e,t);return s.isWidget()?s.widget instanceof Hi?null:s.coordsInWidget(r,t,!0):s.coordsIn(r,t,i)}lineAt(e,t){let{
tile:i}=this.tile.resolveBlock(e,t);return i.isLine()?i:null}coordsForChar(e){let{tile:t,offset:i}=this.tile.resolveBlock(
e,1);if(!t.isLine())return null;function s(r,o){if(r.isComposite())for(let l of r.children){if(l.length>=o){let a=s(
l,o);if(a)return a}if(o-=l.length,o<0)break}else if(r.isText()&&o<r.length){let l=Z(r.text,o);if(l==o)return null;
let a=Gi(r.dom,o,l).getClientRects();for(let h=0;h<a.length;h++){let c=a[h];if(h==a.length-1||c.top<c.bottom&&
c.left<c.right)return c}}return null}return s(t,i)}measureVisibleLineHeights(e){let t=[],{from:i,to:s}=e,r=this.
view.contentDOM.clientWidth,o=r>Math.max(this.view.scrollDOM.clientWidth,this.minWidth)+1,l=-1,a=this.view.textDirection==
z.LTR,h=0,c=(f,u,d)=>{for(let p=0;p<f.children.length&&!(u>s);p++){let m=f.children[p],g=u+m.length,b=m.dom.getBoundingClientRect(),
{height:T}=b;if(d&&!p&&(h+=b.top-d.top),m instanceof ht)g>i&&c(m,u,b);else if(u>=i&&(h>0&&t.push(-h),t.push(T+
h),h=0,o)){let x=m.dom.lastChild,D=x?Wn(x):[];if(D.length){let w=D[D.length-1],v=a?w.right-b.left:b.right-w.left;
v>l&&(l=v,this.minWidth=r,this.minWidthFrom=u,this.minWidthTo=g)}}d&&p==f.children.length-1&&(h+=d.bottom-b.bottom),
u=g+m.breakAfter}};return c(this.tile,0,null),t}textDirectionAt(e){let{tile:t}=this.tile.resolveBlock(e,1);return getComputedStyle(
t.dom).direction=="rtl"?z.RTL:z.LTR}measureTextSize(){let e=this.tile.blockTiles(o=>{if(o.isLine()&&o.children.
length&&o.length<=20){let l=0,a;for(let h of o.children){if(!h.isText()||/[^ -~]/.test(h.text))return;let c=Wn(
h.dom);if(c.length!=1)return;l+=c[0].width,a=c[0].height}if(l)return{lineHeight:o.dom.getBoundingClientRect().
height,charWidth:l/o.length,textHeight:a}}});if(e)return e;let t=document.createElement("div"),i,s,r;return t.
className="cm-line",t.style.width="99999px",t.style.position="absolute",t.textContent="abc def ghi jkl mno pqr\
 stu",this.view.observer.ignore(()=>{this.tile.dom.appendChild(t);let o=Wn(t.firstChild)[0];i=t.getBoundingClientRect().
height,s=o&&o.width?o.width/27:7,r=o&&o.height?o.height:i,t.remove()}),{lineHeight:i,charWidth:s,textHeight:r}}computeBlockGapDeco(){
let e=[],t=this.view.viewState;for(let i=0,s=0;;s++){let r=s==t.viewports.length?null:t.viewports[s],o=r?r.from-
1:this.view.state.doc.length;if(o>i){let l=(t.lineBlockAt(o).bottom-t.lineBlockAt(i).top)/this.view.scaleY;e.push(
P.replace({widget:new Hi(l),block:!0,inclusive:!0,isBlockGap:!0}).range(i,o))}if(!r)break;i=r.to+1}return P.set(
e)}updateDeco(){let e=1,t=this.view.state.facet(as).map(r=>(this.dynamicDecorationMap[e++]=typeof r=="function")?
r(this.view):r),i=!1,s=this.view.state.facet(Lo).map((r,o)=>{let l=typeof r=="function";return l&&(i=!0),l?r(this.
view):r});for(s.length&&(this.dynamicDecorationMap[e++]=i,t.push(W.join(s))),this.decorations=[this.editContextFormatting,
...t,this.computeBlockGapDeco(),this.view.viewState.lineGapDeco];e<this.decorations.length;)this.dynamicDecorationMap[e++]=
!1;this.blockWrappers=this.view.state.facet(Oh).map(r=>typeof r=="function"?r(this.view):r)}scrollIntoView(e){
if(e.isSnapshot){let h=this.view.viewState.lineBlockAt(e.range.head);this.view.scrollDOM.scrollTop=h.top-e.yMargin,
this.view.scrollDOM.scrollLeft=e.xMargin;return}for(let h of this.view.state.facet(Ah))try{if(h(this.view,e.range,
e))return!0}catch(c){ge(this.view.state,c,"scroll handler")}let{range:t}=e,i=this.coordsAt(t.head,t.assoc||(t.
head>t.anchor?-1:1)),s;if(!i)return;!t.empty&&(s=this.coordsAt(t.anchor,t.anchor>t.head?-1:1))&&(i={left:Math.
min(i.left,s.left),top:Math.min(i.top,s.top),right:Math.max(i.right,s.right),bottom:Math.max(i.bottom,s.bottom)});
let r=Eo(this.view),o={left:i.left-r.left,top:i.top-r.top,right:i.right+r.right,bottom:i.bottom+r.bottom},{offsetWidth:l,
offsetHeight:a}=this.view.scrollDOM;if(Ju(this.view.scrollDOM,o,t.head<t.anchor?-1:1,e.x,e.y,Math.max(Math.min(
e.xMargin,l),-l),Math.max(Math.min(e.yMargin,a),-a),this.view.textDirection==z.LTR),window.visualViewport&&window.
innerHeight-window.visualViewport.height>1&&(i.top>window.visualViewport.offsetTop+window.visualViewport.height||
i.bottom<window.visualViewport.offsetTop)){let h=this.view.docView.lineAt(t.head,1);if(h){let c=oh(h.dom);h.dom.
scrollIntoView({block:"nearest"}),lh(c,!1)}}}lineHasWidget(e){let t=i=>i.isWidget()||i.children.some(t);return t(
this.tile.resolveBlock(e,1).tile)}destroy(){jr(this.tile)}};function jr(n,e){let t=e?.get(n);if(t!=1){t==null&&
n.destroy();for(let i of n.children)jr(i,e)}}function bd(n){return ne(n.node)&&n.node.firstChild&&(n.offset==0||
n.node.childNodes[n.offset-1].contentEditable=="false")&&(n.offset==n.node.childNodes.length||n.node.childNodes[n.
offset].contentEditable=="false")}function Lh(n,e){let t=n.observer.selectionRange;if(!t.focusNode)return null;
let i=ch(t.focusNode,t.focusOffset),s=fh(t.focusNode,t.focusOffset),r=i||s;if(s&&i&&s.node!=i.node){let l=Y.get(
s.node);if(!l||l.isText()&&l.text!=s.node.nodeValue)r=s;else if(n.docView.lastCompositionAfterCursor){let a=Y.
get(i.node);!a||a.isText()&&a.text!=i.node.nodeValue||(r=s)}}if(n.docView.lastCompositionAfterCursor=r!=i,!r)return null;
let o=e-r.offset;return{from:o,to:o+r.node.nodeValue.length,node:r.node}}function yd(n,e,t){let i=Lh(n,t);if(!i)
return null;let{node:s,from:r,to:o}=i,l=s.nodeValue;if(/[\n\r]/.test(l)||n.state.doc.sliceString(i.from,i.to)!=
l)return null;let a=e.invertedDesc;return{range:new ze(a.mapPos(r),a.mapPos(o),r,o),text:s}}function xd(n,e){return ne(
n)?(e&&n.childNodes[e-1].contentEditable=="false"?1:0)|(e<n.childNodes.length&&n.childNodes[e].contentEditable==
"false"?2:0):0}var wd=class{constructor(){this.changes=[]}compareRange(e,t){ai(e,t,this.changes)}comparePoint(e,t){
ai(e,t,this.changes)}boundChange(e){ai(e,e,this.changes)}};function kd(n,e,t){let i=new wd;return W.compare(n,
e,t,i),i.changes}var Ur=class{constructor(){this.changes=[]}compareRange(e,t){ai(e,t,this.changes)}comparePoint(){}boundChange(e){
ai(e,e,this.changes)}};function vd(n,e,t){let i=new Ur;return W.compare(n,e,t,i),i.changes}function Sd(n,e){for(let t=n;t&&
t!=e;t=t.assignedSlot||t.parentNode)if(ne(t)&&t.contentEditable=="false")return!0;return!1}function Cd(n,e){let t=!1;
return e&&n.iterChangedRanges((i,s)=>{i<e.to&&s>e.from&&(t=!0)}),t}var Hi=class extends we{constructor(e){super(),
this.height=e}toDOM(){let e=document.createElement("div");return e.className="cm-gap",this.updateDOM(e),e}eq(e){
return e.height==this.height}updateDOM(e){return e.style.height=this.height+"px",!0}get editable(){return!0}get estimatedHeight(){
return this.height}ignoreEvent(){return!1}};function Ad(n,e,t=1){let i=n.charCategorizer(e),s=n.doc.lineAt(e),
r=e-s.from;if(s.length==0)return y.cursor(e);r==0?t=1:r==s.length&&(t=-1);let o=r,l=r;t<0?o=Z(s.text,r,!1):l=Z(
s.text,r);let a=i(s.text.slice(o,l));for(;o>0;){let h=Z(s.text,o,!1);if(i(s.text.slice(h,o))!=a)break;o=h}for(;l<
s.length;){let h=Z(s.text,l);if(i(s.text.slice(l,h))!=a)break;l=h}return y.undirectionalRange(o+s.from,l+s.from)}
function Md(n,e,t,i,s){let r=Math.round((i-e.left)*n.defaultCharacterWidth);if(n.lineWrapping&&t.height>n.defaultLineHeight*
1.5){let l=n.viewState.heightOracle.textHeight,a=Math.floor((s-t.top-(n.defaultLineHeight-l)*.5)/l);r+=a*n.viewState.
heightOracle.lineLength}let o=n.state.sliceDoc(t.from,t.to);return t.from+da(o,r,n.state.tabSize)}function Gr(n,e,t){
let i=n.lineBlockAt(e);if(Array.isArray(i.type)){let s;for(let r of i.type){if(r.from>e)break;if(!(r.to<e)){if(r.
from<e&&r.to>e)return r;(!s||r.type==oe.Text&&(s.type!=r.type||(t<0?r.from<e:r.to>e)))&&(s=r)}}return s||i}return i}
function Td(n,e,t,i){let s=Gr(n,e.head,e.assoc||-1),r=!i||s.type!=oe.Text||!(n.lineWrapping||s.widgetLineBreaks)?
null:n.coordsAtPos(e.assoc<0&&e.head>s.from?e.head-1:e.head);if(r){let o=n.dom.getBoundingClientRect(),l=n.textDirectionAt(
s.from),a=n.posAndSideAtCoords({x:t==(l==z.LTR)?o.right-1:o.left+1,y:(r.top+r.bottom)/2});if(a)return y.cursor(
a.pos,a.assoc)}return y.cursor(t?s.to:s.from,t?1:-1)}function Da(n,e,t,i){let s=n.state.doc.lineAt(e.head),r=n.
bidiSpans(s),o=n.textDirectionAt(s.from);for(let l=e,a=null;;){let h=ad(s,r,o,l,t),c=gh;if(!h){if(s.number==(t?
n.state.doc.lines:1))return l;c=`
`,s=n.state.doc.line(s.number+(t?1:-1)),r=n.bidiSpans(s),h=t?y.cursor(s.from,-1):y.cursor(s.to,1)}if(a){if(!a(
c))return l}else{if(!i)return h;a=i(c)}l=h}}function Od(n,e,t){let i=n.state.charCategorizer(e),s=i(t);return r=>{
let o=i(r);return s==$.Space&&(s=o),s==o}}function Dd(n,e,t,i){let s=e.head,r=t?1:-1;if(s==(t?n.state.doc.length:
0))return y.cursor(s,e.assoc);let o=e.goalColumn,l,a=n.contentDOM.getBoundingClientRect(),h=n.coordsAtPos(s,e.
assoc||((e.empty?t:e.head==e.from)?1:-1)),c=n.documentTop;if(h)o==null&&(o=h.left-a.left),l=r<0?h.top:h.bottom;else{
let p=n.viewState.lineBlockAt(s);o==null&&(o=Math.min(a.right-a.left,n.defaultCharacterWidth*(s-p.from))),l=(r<
0?p.top:p.bottom)+c}let f=a.left+o,u=n.viewState.heightOracle.textHeight>>1,d=i??u;for(let p=0;;p+=u){let m=l+
(d+p)*r,g=_r(n,{x:f,y:m},!1,r);if(t?m>a.bottom:m<a.top)return y.cursor(g.pos,g.assoc);let b=n.coordsAtPos(g.pos,
g.assoc),T=b?(b.top+b.bottom)/2:0;if(!b||(t?T>l:T<l))return y.cursor(g.pos,g.assoc,void 0,o)}}function Vi(n,e,t){
for(;;){let i=0;for(let s of n)s.between(e-1,e+1,(r,o,l)=>{if(e>r&&e<o){let a=i||t||(e-r<o-e?-1:1);e=a<0?r:o,i=
a}});if(!i)return e}}function Eh(n,e){let t=null;for(let i=0;i<e.ranges.length;i++){let s=e.ranges[i],r=null;if(s.
empty){let o=Vi(n,s.from,0);o!=s.from&&(r=y.cursor(o,-1))}else{let o=Vi(n,s.from,-1),l=Vi(n,s.to,1);(o!=s.from||
l!=s.to)&&(s.undirectional?r=y.undirectionalRange(s.from,s.to):r=y.range(s.from==s.anchor?o:l,s.from==s.head?o:
l))}r&&(t||(t=e.ranges.slice()),t[i]=r)}return t?y.create(t,e.mainIndex):e}function Cr(n,e,t){let i=Vi(n.state.
facet(_i).map(s=>s(n)),t.from,e.head>t.from?-1:1);return i==t.from?t:y.cursor(i,i<t.from?1:-1)}var Ee=class{constructor(e,t){
this.pos=e,this.assoc=t}};function _r(n,e,t,i){let s=n.contentDOM.getBoundingClientRect(),r=s.top+n.viewState.
paddingTop,{x:o,y:l}=e,a=l-r,h;for(;;){if(a<0)return new Ee(0,1);if(a>n.viewState.docHeight)return new Ee(n.state.
doc.length,-1);if(h=n.elementAtHeight(a),i==null)break;if(h.type==oe.Text){if(i<0?h.to<n.viewport.from:h.from>
n.viewport.to)break;let u=n.docView.coordsAt(i<0?h.from:h.to,i>0?-1:1);if(u&&(i<0?u.top<=a+r:u.bottom>=a+r))break}
let f=n.viewState.heightOracle.textHeight/2;a=i>0?h.bottom+f:h.top-f}if(n.viewport.from>=h.to||n.viewport.to<=
h.from){if(t)return null;if(h.type==oe.Text){let f=Md(n,s,h,o,l);return new Ee(f,f==h.from?1:-1)}}if(h.type!=oe.
Text)return a<(h.top+h.bottom)/2?new Ee(h.from,1):new Ee(h.to,-1);let c=n.docView.lineAt(h.from,2);return(!c||
c.length!=h.length)&&(c=n.docView.lineAt(h.from,-2)),new Yr(n,o,l,n.textDirectionAt(h.from)).scanTile(c,h.from)}
var Yr=class{constructor(e,t,i,s){this.view=e,this.x=t,this.y=i,this.baseDir=s,this.line=null,this.spans=null}bidiSpansAt(e){
return(!this.line||this.line.from>e||this.line.to<e)&&(this.line=this.view.state.doc.lineAt(e),this.spans=this.
view.bidiSpans(this.line)),this}baseDirAt(e,t){let{line:i,spans:s}=this.bidiSpansAt(e);return s[Ie.find(s,e-i.
from,-1,t)].level==this.baseDir}dirAt(e,t){let{line:i,spans:s}=this.bidiSpansAt(e);return s[Ie.find(s,e-i.from,
-1,t)].dir}bidiIn(e,t){let{spans:i,line:s}=this.bidiSpansAt(e);return i.length>1||i.length&&(i[0].level!=this.
baseDir||i[0].to+s.from<t)}scan(e,t,i=!1){let s=0,r=e.length-1,o=new Set,l=this.bidiIn(e[0],e[r]),a,h,c=-1,f=1e9,
u;e:for(;s<r;){let p=r-s,m=s+r>>1;t:if(o.has(m)){for(let T=1;T<p;T++){let x=m+T;if(x>=r&&(x-=p),!o.has(x)){m=x;
break t}}break e}o.add(m);let g=t(m),b=0;if(g)for(let T=0;T<g.length;T++){let x=g[T];if(!(x.width==0&&g.length>
1))if(x.bottom<this.y)(!a||a.bottom<x.bottom)&&(a=x),b=1;else if(x.top>this.y)(!h||h.top>x.top)&&(h=x),b=-1;else{
let D=x.left>this.x?this.x-x.left:x.right<this.x?this.x-x.right:0,w=Math.abs(D);w<f&&(c=m,f=w,u=x),D&&(b=D<0==
(this.baseDir==z.LTR)?-1:1)}}b==-1&&(!l||this.baseDirAt(e[m],1))?r=m:b==1&&(!l||this.baseDirAt(e[m+1],-1))&&(s=
m+1)}if(!u){if(!h&&!a)return{i:0,after:!1};let p=a&&(!h||this.y-a.bottom<h.top-this.y)?a:h;return this.y=(p.top+
p.bottom)/2,this.scan(e,t,!0)}if(f&&!i){let{top:p,bottom:m}=u;if(a&&a.bottom>(p+p+m)/3)return this.y=a.bottom-
1,this.scan(e,t,!0);if(h&&h.top<(p+m+m)/3)return this.y=h.top+1,this.scan(e,t,!0)}let d=(l?this.dirAt(e[c],1):
this.baseDir)==z.LTR;return{i:c,after:this.x>(u.left+u.right)/2==d}}scanText(e,t){let i=[];for(let r=0;r<e.length;r=
Z(e.text,r))i.push(t+r);i.push(t+e.length);let s=this.scan(i,r=>{let o=i[r]-t,l=i[r+1]-t;return Gi(e.dom,o,l).
getClientRects()});return s.after?new Ee(i[s.i+1],-1):new Ee(i[s.i],1)}scanTile(e,t){if(!e.length)return new Ee(
t,1);if(e.children.length==1){let l=e.children[0];if(l.isText())return this.scanText(l,t);if(l.isComposite())return this.
scanTile(l,t)}let i=[t];for(let l=0,a=t;l<e.children.length;l++)i.push(a+=e.children[l].length);let s=this.scan(
i,l=>{let a=e.children[l];return a.flags&48?null:(ne(a.dom)?a.dom:Gi(a.dom,0,a.length)).getClientRects()}),r=e.
children[s.i],o=i[s.i];return r.isText()?this.scanText(r,o):r.isComposite()?this.scanTile(r,o):s.after?new Ee(
i[s.i+1],-1):new Ee(o,1)}},ni="\uFFFF",Xr=class{constructor(e,t){this.points=e,this.view=t,this.text="",this.lineSeparator=
t.state.facet(j.lineSeparator)}append(e){this.text+=e}lineBreak(){this.text+=ni}readRange(e,t){if(!e)return this;
let i=e.parentNode;for(let s=e;;){this.findPointBefore(i,s);let r=this.text.length;this.readNode(s);let o=Y.get(
s),l=s.nextSibling;if(l==t){o?.breakAfter&&!l&&i!=this.view.contentDOM&&this.lineBreak();break}let a=Y.get(l);
(o&&a?o.breakAfter:(o?o.breakAfter:Un(s))||Un(l)&&(s.nodeName!="BR"||o?.isWidget())&&this.text.length>r)&&!Rd(
l,t)&&this.lineBreak(),s=l}return this.findPointBefore(i,t),this}readTextNode(e){let t=e.nodeValue;for(let i of this.
points)i.node==e&&(i.pos=this.text.length+Math.min(i.offset,t.length));for(let i=0,s=this.lineSeparator?null:/\r\n?|\n/g;;){
let r=-1,o=1,l;if(this.lineSeparator?(r=t.indexOf(this.lineSeparator,i),o=this.lineSeparator.length):(l=s.exec(
t))&&(r=l.index,o=l[0].length),this.append(t.slice(i,r<0?t.length:r)),r<0)break;if(this.lineBreak(),o>1)for(let a of this.
points)a.node==e&&a.pos>this.text.length&&(a.pos-=o-1);i=r+o}}readNode(e){let t=Y.get(e),i=t&&t.overrideDOMText;
if(i!=null){this.findPointInside(e,i.length);for(let s=i.iter();!s.next().done;)s.lineBreak?this.lineBreak():this.
append(s.value)}else ci(e)?this.readTextNode(e):e.nodeName=="BR"?e.nextSibling&&this.lineBreak():ne(e)&&this.readRange(
e.firstChild,null)}findPointBefore(e,t){for(let i of this.points)i.node==e&&e.childNodes[i.offset]==t&&(i.pos=
this.text.length)}findPointInside(e,t){for(let i of this.points)(ci(e)?i.node==e:e.contains(i.node))&&(i.pos=this.
text.length+(Pd(e,i.node,i.offset)?t:0))}};function Pd(n,e,t){for(;;){if(!e||t<ct(e))return!1;if(e==n)return!0;
t=bt(e)+1,e=e.parentNode}}function Rd(n,e){let t;for(;!(n==e||!n);n=n.nextSibling){let i=Y.get(n);if(!i?.isWidget())
return!1;i&&(t||(t=[])).push(i)}if(t)for(let i of t){let s=i.overrideDOMText;if(s?.length)return!1}return!0}var Qn=class{constructor(e,t){
this.node=e,this.offset=t,this.pos=-1}},Qr=class{constructor(e,t,i,s){this.typeOver=s,this.bounds=null,this.text=
"",this.domChanged=t>-1;let{impreciseHead:r,impreciseAnchor:o}=e.docView,l=e.state.selection;if(e.state.readOnly&&
t>-1)this.newSel=null;else if(t>-1&&(this.bounds=Ih(e.docView.tile,t,i,0))){let a=r||o?[]:Ld(e),h=new Xr(a,e);
h.readRange(this.bounds.startDOM,this.bounds.endDOM),this.text=h.text,this.newSel=Ed(a,this.bounds.from)}else{
let a=e.observer.selectionRange,h=r&&r.node==a.focusNode&&r.offset==a.focusOffset||!Lr(e.contentDOM,a.focusNode)?
l.main.head:e.docView.posFromDOM(a.focusNode,a.focusOffset),c=o&&o.node==a.anchorNode&&o.offset==a.anchorOffset||
!Lr(e.contentDOM,a.anchorNode)?l.main.anchor:e.docView.posFromDOM(a.anchorNode,a.anchorOffset),f=e.viewport;if((M.
ios||M.chrome)&&h!=c&&Math.min(h,c)<=l.main.from&&Math.max(h,c)>=l.main.to&&(f.from>0||f.to<e.state.doc.length)){
let u=Math.min(h,c),d=Math.max(h,c),p=f.from-u,m=f.to-d;(p==0||p==1||u==0)&&(m==0||m==-1||d==e.state.doc.length)&&
(h=0,c=e.state.doc.length)}if(e.inputState.composing>-1&&l.ranges.length>1)this.newSel=l.replaceRange(y.range(
c,h));else if(e.lineWrapping&&c==h&&!(l.main.empty&&l.main.head==h)&&e.inputState.lastTouchTime>Date.now()-100){
let u=e.coordsAtPos(h,-1),d=0;u&&(d=e.inputState.lastTouchY<=u.bottom?-1:1),this.newSel=y.create([y.cursor(h,d)])}else
this.newSel=y.single(c,h)}}};function Ih(n,e,t,i){if(n.isComposite()){let s=-1,r=-1,o=-1,l=-1;for(let a=0,h=i,
c=i;a<n.children.length;a++){let f=n.children[a],u=h+f.length;if(h<e&&u>t)return Ih(f,e,t,h);if(u>=e&&s==-1&&(s=
a,r=h),h>t&&f.dom.parentNode==n.dom){o=a,l=c;break}c=u,h=u+f.breakAfter}return{from:r,to:l<0?i+n.length:l,startDOM:(s?
n.children[s-1].dom.nextSibling:null)||n.dom.firstChild,endDOM:o<n.children.length&&o>=0?n.children[o].dom:null}}else
return n.isText()?{from:i,to:i+n.length,startDOM:n.dom,endDOM:n.dom.nextSibling}:null}function Nh(n,e){let t,{
newSel:i}=e,{state:s}=n,r=s.selection.main,o=n.inputState.lastKeyTime>Date.now()-100?n.inputState.lastKeyCode:
-1;if(e.bounds){let{from:l,to:a}=e.bounds,h=r.from,c=null;(o===8||M.android&&e.text.length<a-l)&&(h=r.to,c="en\
d");let f=s.doc.sliceString(l,a,ni),u,d;!r.empty&&r.from>=l&&r.to<=a&&(e.typeOver||f!=e.text)&&f.slice(0,r.from-
l)==e.text.slice(0,r.from-l)&&f.slice(r.to-l)==e.text.slice(u=e.text.length-(f.length-(r.to-l)))?t={from:r.from,
to:r.to,insert:F.of(e.text.slice(r.from-l,u).split(ni))}:(d=Fh(f,e.text,h-l,c))&&(M.chrome&&o==13&&d.toB==d.from+
2&&e.text.slice(d.from,d.toB)==ni+ni&&d.toB--,t={from:l+d.from,to:l+d.toA,insert:F.of(e.text.slice(d.from,d.toB).
split(ni))})}else i&&(!n.hasFocus&&s.facet(at)||Jr(i,r))&&(i=null);if(!t&&!i)return!1;if((M.mac||M.android)&&t&&
t.from==t.to&&t.from==r.head-1&&/^\. ?$/.test(t.insert.toString())&&n.contentDOM.getAttribute("autocorrect")==
"off"?(i&&t.insert.length==2&&(i=y.single(i.main.anchor-1,i.main.head-1)),t={from:t.from,to:t.to,insert:F.of([
t.insert.toString().replace("."," ")])}):s.doc.lineAt(r.from).to<r.to&&n.docView.lineHasWidget(r.to)&&n.inputState.
insertingTextAt>Date.now()-50?t={from:r.from,to:r.to,insert:s.toText(n.inputState.insertingText)}:M.chrome&&t&&
t.from==t.to&&t.from==r.head&&t.insert.toString()==`
 `&&n.lineWrapping&&(i&&(i=y.single(i.main.anchor-1,i.main.head-1)),t={from:r.from,to:r.to,insert:F.of([" "])}),
t)return Io(n,t,i,o);if(i&&!Jr(i,r)){let l=!1,a="select";return n.inputState.lastSelectionTime>Date.now()-50&&
(n.inputState.lastSelectionOrigin=="select"&&(l=!0),a=n.inputState.lastSelectionOrigin,a=="select.pointer"&&(i=
Eh(s.facet(_i).map(h=>h(n)),i))),n.dispatch({selection:i,scrollIntoView:l,userEvent:a}),!0}else return!1}function Io(n,e,t,i=-1){
if(M.ios&&n.inputState.flushIOSKey(e))return!0;let s=n.state.selection.main;if(M.android&&(e.to==s.to&&(e.from==
s.from||e.from==s.from-1&&n.state.sliceDoc(e.from,s.from)==" ")&&e.insert.length==1&&e.insert.lines==2&&hi(n.contentDOM,
"Enter",13)||(e.from==s.from-1&&e.to==s.to&&e.insert.length==0||i==8&&e.insert.length<e.to-e.from&&e.to>s.head)&&
hi(n.contentDOM,"Backspace",8)||e.from==s.from&&e.to==s.to+1&&e.insert.length==0&&hi(n.contentDOM,"Delete",46)))
return!0;let r=e.insert.toString();n.inputState.composing>=0&&n.inputState.composing++;let o,l=()=>o||(o=Bd(n,
e,t));return n.state.facet(kh).some(a=>a(n,e.from,e.to,r,l))||n.dispatch(l()),!0}function Bd(n,e,t){let i,s=n.
state,r=s.selection.main,o=-1;if(e.from==e.to&&e.from<r.from||e.from>r.to){let a=e.from<r.from?-1:1,h=a<0?r.from:
r.to,c=Vi(s.facet(_i).map(f=>f(n)),h,a);e.from==c&&(o=c)}if(o>-1)i={changes:e,selection:y.cursor(e.from+e.insert.
length,-1)};else if(e.from>=r.from&&e.to<=r.to&&e.to-e.from>=(r.to-r.from)/3&&(!t||t.main.empty&&t.main.from==
e.from+e.insert.length)&&n.inputState.composing<0){let a=r.from<e.from?s.sliceDoc(r.from,e.from):"",h=r.to>e.to?
s.sliceDoc(e.to,r.to):"";i=s.replaceSelection(n.state.toText(a+e.insert.sliceString(0,void 0,n.state.lineBreak)+
h))}else{let a=s.changes(e),h=t&&t.main.to<=a.newLength?t.main:void 0;if(s.selection.ranges.length>1&&(n.inputState.
composing>=0||n.inputState.compositionPendingChange)&&e.to<=r.to+10&&e.to>=r.to-10){let c=n.state.sliceDoc(e.from,
e.to),f,u=t&&Lh(n,t.main.head);if(u){let p=e.insert.length-(e.to-e.from);f={from:u.from,to:u.to-p}}else f=n.state.
doc.lineAt(r.head);let d=r.to-e.to;i=s.changeByRange(p=>{if(p.from==r.from&&p.to==r.to)return{changes:a,range:h||
p.map(a)};let m=p.to-d,g=m-c.length;if(n.state.sliceDoc(g,m)!=c||m>=f.from&&g<=f.to)return{range:p};let b=s.changes(
{from:g,to:m,insert:e.insert}),T=p.to-r.to;return{changes:b,range:h?y.range(Math.max(0,h.anchor+T),Math.max(0,
h.head+T)):p.map(b)}})}else i={changes:a,selection:h&&s.selection.replaceRange(h)}}let l="input.type";return(n.
composing||n.inputState.compositionPendingChange&&n.inputState.compositionEndedAt>Date.now()-50)&&(n.inputState.
compositionPendingChange=!1,l+=".compose",n.inputState.compositionFirstChange&&(l+=".start",n.inputState.compositionFirstChange=
!1)),s.update(i,{userEvent:l,scrollIntoView:!0})}function Fh(n,e,t,i){let s=Math.min(n.length,e.length),r=0;for(;r<
s&&n.charCodeAt(r)==e.charCodeAt(r);)r++;if(r==s&&n.length==e.length)return null;let o=n.length,l=e.length;for(;o>
0&&l>0&&n.charCodeAt(o-1)==e.charCodeAt(l-1);)o--,l--;if(i=="end"){let a=Math.max(0,r-Math.min(o,l));t-=o+a-r}
if(o<r&&n.length<e.length){let a=t<=r&&t>=o?r-t:0;r-=a,l=r+(l-o),o=r}else if(l<r){let a=t<=r&&t>=l?r-t:0;r-=a,
o=r+(o-l),l=r}return{from:r,toA:o,toB:l}}function Ld(n){let e=[];if(n.root.activeElement!=n.contentDOM)return e;
let{anchorNode:t,anchorOffset:i,focusNode:s,focusOffset:r}=n.observer.selectionRange;return t&&(e.push(new Qn(
t,i)),(s!=t||r!=i)&&e.push(new Qn(s,r))),e}function Ed(n,e){if(n.length==0)return null;let t=n[0].pos,i=n.length==
2?n[1].pos:t;return t<0||i<0?null:t==i?y.create([y.cursor(i+e,-1)]):y.single(t+e,i+e)}function Jr(n,e){return e.
head==n.main.head&&e.anchor==n.main.anchor}var Zr=class{setSelectionOrigin(e){this.lastSelectionOrigin=e,this.
lastSelectionTime=Date.now()}constructor(e){this.view=e,this.lastKeyCode=0,this.lastKeyTime=0,this.touchActive=
!1,this.lastTouchTime=0,this.lastTouchX=0,this.lastTouchY=0,this.lastFocusTime=0,this.lastScrollTop=0,this.lastScrollLeft=
0,this.lastWheelEvent=0,this.pendingIOSKey=void 0,this.lastIOSMomentumScroll=0,this.tabFocusMode=-1,this.lastSelectionOrigin=
null,this.lastSelectionTime=0,this.lastContextMenu=0,this.scrollHandlers=[],this.handlers=Object.create(null),
this.composing=-1,this.compositionFirstChange=null,this.compositionEndedAt=0,this.compositionPendingKey=!1,this.
compositionPendingChange=!1,this.insertingText="",this.insertingTextAt=0,this.mouseSelection=null,this.draggedContent=
null,this.handleEvent=this.handleEvent.bind(this),this.notifiedFocused=e.hasFocus,M.safari&&e.contentDOM.addEventListener(
"input",()=>null),M.gecko&&Yd(e.contentDOM.ownerDocument)}handleEvent(e){!qd(this.view,e)||this.ignoreDuringComposition(
e)||e.type=="keydown"&&this.keydown(e)||(this.view.updateState!=0?Promise.resolve().then(()=>this.runHandlers(
e.type,e)):this.runHandlers(e.type,e))}runHandlers(e,t){let i=this.handlers[e];if(i){for(let s of i.observers)
s(this.view,t);for(let s of i.handlers){if(t.defaultPrevented)break;if(s(this.view,t)){t.preventDefault();break}}}}ensureHandlers(e){
let t=Nd(e),i=this.handlers,s=this.view.contentDOM;for(let r in t)if(r!="scroll"){let o=!t[r].handlers.length,
l=i[r];l&&o!=!l.handlers.length&&(s.removeEventListener(r,this.handleEvent),l=null),l||s.addEventListener(r,this.
handleEvent,{passive:o})}for(let r in i)r!="scroll"&&!t[r]&&s.removeEventListener(r,this.handleEvent);this.handlers=
t}keydown(e){if(this.lastKeyCode=e.keyCode,this.lastKeyTime=Date.now(),e.keyCode==9&&this.tabFocusMode>-1&&(!this.
tabFocusMode||Date.now()<=this.tabFocusMode))return!0;if(this.tabFocusMode>0&&e.keyCode!=27&&Hh.indexOf(e.keyCode)<
0&&(this.tabFocusMode=-1),M.android&&M.chrome&&!e.synthetic&&(e.keyCode==13||e.keyCode==8))return this.view.observer.
delayAndroidKey(e.key,e.keyCode),!0;if(M.ios&&!e.synthetic&&!e.altKey&&!e.metaKey&&(Wh.some(t=>t.keyCode==e.keyCode)&&
!e.ctrlKey||Fd.indexOf(e.key)>-1&&e.ctrlKey)){let t={ctrlKey:e.ctrlKey,altKey:e.altKey,metaKey:e.metaKey,shiftKey:e.
shiftKey};t.shiftKey&&M.ios&&!/^(off|none)$/.test(this.view.contentDOM.autocapitalize)&&Id(this.view.win)&&(t.
shiftKey=!1);let i=this.pendingIOSKey={key:e.key,keyCode:e.keyCode,mods:t};return setTimeout(()=>{this.pendingIOSKey==
i&&this.flushIOSKey()},50),!0}return e.keyCode!=229&&this.view.observer.forceFlush(),!1}flushIOSKey(e){let t=this.
pendingIOSKey;return!t||this.view.observer.pendingRecords().length||t.key=="Enter"&&e&&e.from<e.to&&/^\S+$/.test(
e.insert.toString())?!1:(this.pendingIOSKey=void 0,hi(this.view.contentDOM,t.key,t.keyCode,t.mods))}ignoreDuringComposition(e){
return!/^key/.test(e.type)||e.synthetic?!1:this.composing>0?!0:M.safari&&!M.ios&&this.compositionPendingKey&&Date.
now()-this.compositionEndedAt<100?(this.compositionPendingKey=!1,!0):!1}startMouseSelection(e){this.mouseSelection&&
this.mouseSelection.destroy(),this.mouseSelection=e}update(e){this.view.observer.update(e),this.mouseSelection&&
this.mouseSelection.update(e),this.draggedContent&&e.docChanged&&(this.draggedContent=this.draggedContent.map(
e.changes)),e.transactions.length&&(this.lastKeyCode=this.lastSelectionTime=0)}destroy(){this.mouseSelection&&
this.mouseSelection.destroy()}};function Id(n){return n.visualViewport?n.visualViewport.height*n.visualViewport.
scale/n.document.documentElement.clientHeight<.85:!1}function Pa(n,e){return(t,i)=>{try{return e.call(n,i,t)}catch(s){
ge(t.state,s)}}}function Nd(n){let e=Object.create(null);function t(i){return e[i]||(e[i]={observers:[],handlers:[]})}
for(let i of n){let s=i.spec,r=s&&s.plugin.domEventHandlers,o=s&&s.plugin.domEventObservers;if(r)for(let l in r){
let a=r[l];a&&t(l).handlers.push(Pa(i.value,a))}if(o)for(let l in o){let a=o[l];a&&t(l).observers.push(Pa(i.value,
a))}}for(let i in qe)t(i).handlers.push(qe[i]);for(let i in be)t(i).observers.push(be[i]);return e}var Wh=[{key:"\
Backspace",keyCode:8,inputType:"deleteContentBackward"},{key:"Enter",keyCode:13,inputType:"insertParagraph"},{
key:"Enter",keyCode:13,inputType:"insertLineBreak"},{key:"Delete",keyCode:46,inputType:"deleteContentForward"}],
Fd="dthko",Hh=[16,17,18,20,91,92,224,225],Pn=6;function Rn(n){return Math.max(0,n)*.7+8}function Wd(n,e){return Math.
max(Math.abs(n.clientX-e.clientX),Math.abs(n.clientY-e.clientY))}var eo=class{constructor(e,t,i,s){this.view=e,
this.startEvent=t,this.style=i,this.mustSelect=s,this.scrollSpeed={x:0,y:0},this.scrolling=-1,this.lastEvent=t,
this.scrollParents=rh(e.contentDOM),this.atoms=e.state.facet(_i).map(o=>o(e));let r=e.contentDOM.ownerDocument;
r.addEventListener("mousemove",this.move=this.move.bind(this)),r.addEventListener("mouseup",this.up=this.up.bind(
this)),this.extend=t.shiftKey,this.multiple=e.state.facet(j.allowMultipleSelections)&&Hd(e,t),this.dragging=zd(
e,t)&&qh(t)==1?null:!1}start(e){this.dragging===!1&&this.select(e)}move(e){if(e.buttons==0)return this.destroy();
if(this.dragging||this.dragging==null&&Wd(this.startEvent,e)<10)return;this.select(this.lastEvent=e);let t=0,i=0,
s=0,r=0,o=this.view.win.innerWidth,l=this.view.win.innerHeight;this.scrollParents.x&&({left:s,right:o}=this.scrollParents.
x.getBoundingClientRect()),this.scrollParents.y&&({top:r,bottom:l}=this.scrollParents.y.getBoundingClientRect());
let a=Eo(this.view);e.clientX-a.left<=s+Pn?t=-Rn(s-e.clientX):e.clientX+a.right>=o-Pn&&(t=Rn(e.clientX-o)),e.clientY-
a.top<=r+Pn?i=-Rn(r-e.clientY):e.clientY+a.bottom>=l-Pn&&(i=Rn(e.clientY-l)),this.setScrollSpeed(t,i)}up(e){this.
dragging==null&&this.select(this.lastEvent),this.dragging||e.preventDefault(),this.destroy()}destroy(){this.setScrollSpeed(
0,0);let e=this.view.contentDOM.ownerDocument;e.removeEventListener("mousemove",this.move),e.removeEventListener(
"mouseup",this.up),this.view.inputState.mouseSelection=this.view.inputState.draggedContent=null}setScrollSpeed(e,t){
this.scrollSpeed={x:e,y:t},e||t?this.scrolling<0&&(this.scrolling=setInterval(()=>this.scroll(),50)):this.scrolling>
-1&&(clearInterval(this.scrolling),this.scrolling=-1)}scroll(){let{x:e,y:t}=this.scrollSpeed;e&&this.scrollParents.
x&&(this.scrollParents.x.scrollLeft+=e,e=0),t&&this.scrollParents.y&&(this.scrollParents.y.scrollTop+=t,t=0),(e||
t)&&this.view.win.scrollBy(e,t),this.dragging===!1&&this.select(this.lastEvent)}select(e){let{view:t}=this,i=Eh(
this.atoms,this.style.get(e,this.extend,this.multiple));(this.mustSelect||!i.eq(t.state.selection,this.dragging===
!1))&&this.view.dispatch({selection:i,userEvent:"select.pointer"}),this.mustSelect=!1}update(e){e.transactions.
some(t=>t.isUserEvent("input.type"))?this.destroy():this.style.update(e)&&setTimeout(()=>this.select(this.lastEvent),
20)}};function Hd(n,e){let t=n.state.facet(bh);return t.length?t[0](e):M.mac?e.metaKey:e.ctrlKey}function Vd(n,e){
let t=n.state.facet(yh);return t.length?t[0](e):M.mac?!e.altKey:!e.ctrlKey}function zd(n,e){let{main:t}=n.state.
selection;if(t.empty)return!1;let i=Ui(n.root);if(!i||i.rangeCount==0)return!0;let s=i.getRangeAt(0).getClientRects();
for(let r=0;r<s.length;r++){let o=s[r];if(o.left<=e.clientX&&o.right>=e.clientX&&o.top<=e.clientY&&o.bottom>=e.
clientY)return!0}return!1}function qd(n,e){if(!e.bubbles)return!0;if(e.defaultPrevented)return!1;for(let t=e.target,
i;t!=n.contentDOM;t=t.parentNode)if(!t||t.nodeType==11||(i=Y.get(t))&&i.isWidget()&&!i.isHidden&&i.widget.ignoreEvent(
e))return!1;return!0}var qe=Object.create(null),be=Object.create(null),Vh=M.ie&&M.ie_version<15||M.ios&&M.webkit_version<
604;function $d(n){let e=n.dom.parentNode;if(!e)return;let t=e.appendChild(document.createElement("textarea"));
t.style.cssText="position: fixed; left: -10000px; top: 10px",t.focus(),setTimeout(()=>{n.focus(),t.remove(),zh(
n,t.value)},50)}function hs(n,e,t){for(let i of n.facet(e))t=i(t,n);return t}function zh(n,e){e=hs(n.state,Po,
e);let{state:t}=n,i,s=1,r=t.toText(e),o=r.lines==t.selection.ranges.length;if(to!=null&&t.selection.ranges.every(
a=>a.empty)&&to==r.toString()){let a=-1;i=t.changeByRange(h=>{let c=t.doc.lineAt(h.from);if(c.from==a)return{range:h};
a=c.from;let f=t.toText((o?r.line(s++).text:e)+t.lineBreak);return{changes:{from:c.from,insert:f},range:y.cursor(
h.from+f.length,-1)}})}else o?i=t.changeByRange(a=>{let h=r.line(s++);return{changes:{from:a.from,to:a.to,insert:h.
text},range:y.cursor(a.from+h.length,-1)}}):i=t.replaceSelection(r);n.dispatch(i,{userEvent:"input.paste",scrollIntoView:!0})}
be.scroll=n=>{let e=n.inputState;e.lastScrollTop=n.scrollDOM.scrollTop,e.lastScrollLeft=n.scrollDOM.scrollLeft,
M.ios&&!e.touchActive&&(e.lastIOSMomentumScroll=Date.now())};be.wheel=be.mousewheel=n=>{n.inputState.lastWheelEvent=
Date.now()};qe.keydown=(n,e)=>(n.inputState.setSelectionOrigin("select"),e.keyCode==27&&n.inputState.tabFocusMode!=
0&&(n.inputState.tabFocusMode=Date.now()+2e3),!1);be.touchstart=(n,e)=>{let t=n.inputState,i=e.targetTouches[0];
t.touchActive=!0,t.lastTouchTime=Date.now(),i&&(t.lastTouchX=i.clientX,t.lastTouchY=i.clientY),t.setSelectionOrigin(
"select.pointer")};be.touchmove=n=>{n.inputState.setSelectionOrigin("select.pointer")};be.touchend=(n,e)=>{n.inputState.
touchActive=!1};qe.mousedown=(n,e)=>{if(n.observer.flush(),n.inputState.lastTouchTime>Date.now()-2e3)return!1;
let t=null;for(let i of n.state.facet(xh))if(t=i(n,e),t)break;if(!t&&e.button==0&&(t=jd(n,e)),t){let i=!n.hasFocus;
n.inputState.startMouseSelection(new eo(n,e,t,i)),i&&n.observer.ignore(()=>{ah(n.contentDOM);let r=n.root.activeElement;
r&&!r.contains(n.contentDOM)&&r.blur()});let s=n.inputState.mouseSelection;if(s)return s.start(e),s.dragging===
!1}else n.inputState.setSelectionOrigin("select.pointer");return!1};function Ra(n,e,t,i){if(i==1)return y.cursor(
e,t);if(i==2)return Ad(n.state,e,t);{let s=n.docView.lineAt(e,t),r=n.state.doc.lineAt(s?s.posAtEnd:e),o=s?s.posAtStart:
r.from,l=s?s.posAtEnd:r.to;return l<n.state.doc.length&&l==r.to&&l++,y.undirectionalRange(o,l)}}var Kd=M.ie&&M.
ie_version<=11,Ba=null,La=0,Ea=0;function qh(n){if(!Kd)return n.detail;let e=Ba,t=Ea;return Ba=n,Ea=Date.now(),
La=!e||t>Date.now()-400&&Math.abs(e.clientX-n.clientX)<2&&Math.abs(e.clientY-n.clientY)<2?(La+1)%3:1}function jd(n,e){
let t=n.posAndSideAtCoords({x:e.clientX,y:e.clientY},!1),i=qh(e),s=n.state.selection;return{update(r){r.docChanged&&
(t.pos=r.changes.mapPos(t.pos),s=s.map(r.changes))},get(r,o,l){let a=n.posAndSideAtCoords({x:r.clientX,y:r.clientY},
!1),h,c=Ra(n,a.pos,a.assoc,i);if(t.pos!=a.pos&&!o){let f=Ra(n,t.pos,t.assoc,i),u=Math.min(f.from,c.from),d=Math.
max(f.to,c.to);c=u<c.from?y.range(u,d,c.assoc):y.range(d,u,c.assoc)}return o?s.replaceRange(s.main.extend(c.from,
c.to,c.assoc)):l&&i==1&&s.ranges.length>1&&(h=Ud(s,a.pos))?h:l?s.addRange(c):y.create([c])}}}function Ud(n,e){
for(let t=0;t<n.ranges.length;t++){let{from:i,to:s}=n.ranges[t];if(i<=e&&s>=e)return y.create(n.ranges.slice(0,
t).concat(n.ranges.slice(t+1)),n.mainIndex==t?0:n.mainIndex-(n.mainIndex>t?1:0))}return null}qe.dragstart=(n,e)=>{
let{selection:{main:t}}=n.state;if(e.target.draggable){let s=n.docView.tile.nearest(e.target);if(s&&s.isWidget()){
let r=s.posAtStart,o=r+s.length;(r>=t.to||o<=t.from)&&(t=y.undirectionalRange(r,o))}}let{inputState:i}=n;return i.
mouseSelection&&(i.mouseSelection.dragging=!0),i.draggedContent=t,e.dataTransfer&&(e.dataTransfer.setData("Tex\
t",hs(n.state,Ro,n.state.sliceDoc(t.from,t.to))),e.dataTransfer.effectAllowed="copyMove"),!1};qe.dragend=n=>(n.
inputState.draggedContent=null,!1);function Ia(n,e,t,i){if(t=hs(n.state,Po,t),!t)return;let s=n.posAtCoords({x:e.
clientX,y:e.clientY},!1),{draggedContent:r}=n.inputState,o=i&&r&&Vd(n,e)?{from:r.from,to:r.to}:null,l={from:s,
insert:t},a=n.state.changes(o?[o,l]:l);n.focus(),n.dispatch({changes:a,selection:{anchor:a.mapPos(s,-1),head:a.
mapPos(s,1)},userEvent:o?"move.drop":"input.drop"}),n.inputState.draggedContent=null}qe.drop=(n,e)=>{if(!e.dataTransfer)
return!1;if(n.state.readOnly)return!0;let t=e.dataTransfer.files;if(t&&t.length){let i=Array(t.length),s=0,r=()=>{
++s==t.length&&Ia(n,e,i.filter(o=>o!=null).join(n.state.lineBreak),!1)};for(let o=0;o<t.length;o++){let l=new FileReader;
l.onerror=r,l.onload=()=>{/[\x00-\x08\x0e-\x1f]{2}/.test(l.result)||(i[o]=l.result),r()},l.readAsText(t[o])}return!0}else{
let i=e.dataTransfer.getData("Text");if(i)return Ia(n,e,i,!0),!0}return!1};qe.paste=(n,e)=>{if(n.state.readOnly)
return!0;n.observer.flush();let t=Vh?null:e.clipboardData;return t?(zh(n,t.getData("text/plain")||t.getData("t\
ext/uri-list")),!0):($d(n),!1)};function Gd(n,e){let t=n.dom.parentNode;if(!t)return;let i=t.appendChild(document.
createElement("textarea"));i.style.cssText="position: fixed; left: -10000px; top: 10px",i.value=e,i.focus(),i.
selectionEnd=e.length,i.selectionStart=0,setTimeout(()=>{i.remove(),n.focus()},50)}function _d(n){let e=[],t=[],
i=!1;for(let s of n.selection.ranges)s.empty||(e.push(n.sliceDoc(s.from,s.to)),t.push(s));if(!e.length){let s=-1;
for(let{from:r}of n.selection.ranges){let o=n.doc.lineAt(r);o.number>s&&(e.push(o.text),t.push({from:o.from,to:Math.
min(n.doc.length,o.to+1)})),s=o.number}i=!0}return{text:hs(n,Ro,e.join(n.lineBreak)),ranges:t,linewise:i}}var to=null;
qe.copy=qe.cut=(n,e)=>{if(!Ii(n.contentDOM,n.observer.selectionRange))return!1;let{text:t,ranges:i,linewise:s}=_d(
n.state);if(!t&&!s)return!1;to=s?t:null,e.type=="cut"&&!n.state.readOnly&&n.dispatch({changes:i,scrollIntoView:!0,
userEvent:"delete.cut"});let r=Vh?null:e.clipboardData;return r?(r.clearData(),r.setData("text/plain",t),!0):(Gd(
n,t),!1)};var $h=Ce.define();function Kh(n,e){let t=[];for(let i of n.facet(vh)){let s=i(n,e);s&&t.push(s)}return t.
length?n.update({effects:t,annotations:$h.of(!0)}):null}function jh(n){setTimeout(()=>{let e=n.hasFocus;if(e!=
n.inputState.notifiedFocused){let t=Kh(n.state,e);t?n.dispatch(t):n.update([])}},10)}be.focus=n=>{n.inputState.
lastFocusTime=Date.now(),!n.scrollDOM.scrollTop&&(n.inputState.lastScrollTop||n.inputState.lastScrollLeft)&&(n.
scrollDOM.scrollTop=n.inputState.lastScrollTop,n.scrollDOM.scrollLeft=n.inputState.lastScrollLeft),jh(n)};be.blur=
n=>{n.observer.clearSelectionRange(),jh(n)};be.compositionstart=be.compositionupdate=(n,e)=>{if(!n.observer.editContext&&
(n.inputState.compositionFirstChange==null&&(n.inputState.compositionFirstChange=!0),n.inputState.composing<0)){
let{main:t}=n.state.selection;!t.empty&&n.lineBlockAt(t.from).from!=n.lineBlockAt(t.to).from&&!n.state.readOnly&&
n.dispatch({changes:n.state.selection.ranges.filter(i=>!i.empty).map(i=>({from:i.from,to:i.to})),userEvent:"in\
put"}),n.inputState.composing=0}};be.compositionend=n=>{n.observer.editContext||(n.inputState.composing=-1,n.inputState.
compositionEndedAt=Date.now(),n.inputState.compositionPendingKey=!0,n.inputState.compositionPendingChange=n.observer.
pendingRecords().length>0,n.inputState.compositionFirstChange=null,M.chrome&&M.android?n.observer.flushSoon():
n.inputState.compositionPendingChange?Promise.resolve().then(()=>n.observer.flush()):setTimeout(()=>{n.inputState.
composing<0&&n.docView.hasComposition&&n.update([])},50))};be.contextmenu=n=>{n.inputState.lastContextMenu=Date.
now()};qe.beforeinput=(n,e)=>{var t,i;if((e.inputType=="insertText"||e.inputType=="insertCompositionText")&&(n.
inputState.insertingText=e.data,n.inputState.insertingTextAt=Date.now()),e.inputType=="insertReplacementText"&&
n.observer.editContext){let r=(t=e.dataTransfer)===null||t===void 0?void 0:t.getData("text/plain"),o=e.getTargetRanges();
if(r&&o.length){let l=o[0],a=n.posAtDOM(l.startContainer,l.startOffset),h=n.posAtDOM(l.endContainer,l.endOffset);
return Io(n,{from:a,to:h,insert:n.state.toText(r)},null),!0}}let s;if(M.chrome&&M.android&&(s=Wh.find(r=>r.inputType==
e.inputType))&&(n.observer.delayAndroidKey(s.key,s.keyCode),s.key=="Backspace"||s.key=="Delete")){let r=((i=window.
visualViewport)===null||i===void 0?void 0:i.height)||0;setTimeout(()=>{var o;(((o=window.visualViewport)===null||
o===void 0?void 0:o.height)||0)>r+10&&n.hasFocus&&(n.contentDOM.blur(),n.focus())},100)}return M.ios&&e.inputType==
"deleteContentForward"&&n.observer.flushSoon(),M.safari&&e.inputType=="insertText"&&n.inputState.composing>=0&&
setTimeout(()=>be.compositionend(n,e),20),!1};var Na=new Set;function Yd(n){Na.has(n)||(Na.add(n),n.addEventListener(
"copy",()=>{}),n.addEventListener("cut",()=>{}))}var Fa=["pre-wrap","normal","pre-line","break-spaces"],gi=!1;
function Wa(){gi=!1}var io=class{constructor(e){this.lineWrapping=e,this.doc=F.empty,this.heightSamples={},this.
lineHeight=14,this.charWidth=7,this.textHeight=14,this.lineLength=30}heightForGap(e,t){let i=this.doc.lineAt(t).
number-this.doc.lineAt(e).number+1;return this.lineWrapping&&(i+=Math.max(0,Math.ceil((t-e-i*this.lineLength*.5)/
this.lineLength))),this.lineHeight*i}heightForLine(e){return this.lineWrapping?(1+Math.max(0,Math.ceil((e-this.
lineLength)/Math.max(1,this.lineLength-5))))*this.lineHeight:this.lineHeight}setDoc(e){return this.doc=e,this}mustRefreshForWrapping(e){
return Fa.indexOf(e)>-1!=this.lineWrapping}mustRefreshForHeights(e){let t=!1;for(let i=0;i<e.length;i++){let s=e[i];
s<0?i++:this.heightSamples[Math.floor(s*10)]||(t=!0,this.heightSamples[Math.floor(s*10)]=!0)}return t}refresh(e,t,i,s,r,o){
let l=Fa.indexOf(e)>-1,a=Math.abs(t-this.lineHeight)>.3||this.lineWrapping!=l;if(this.lineWrapping=l,this.lineHeight=
t,this.charWidth=i,this.textHeight=s,this.lineLength=r,a){this.heightSamples={};for(let h=0;h<o.length;h++){let c=o[h];
c<0?h++:this.heightSamples[Math.floor(c*10)]=!0}}return a}},no=class{constructor(e,t){this.from=e,this.heights=
t,this.index=0}get more(){return this.index<this.heights.length}},Ve=class n{constructor(e,t,i,s,r){this.from=
e,this.length=t,this.top=i,this.height=s,this._content=r}get type(){return typeof this._content=="number"?oe.Text:
Array.isArray(this._content)?this._content:this._content.type}get to(){return this.from+this.length}get bottom(){
return this.top+this.height}get widget(){return this._content instanceof Nt?this._content.widget:null}get widgetLineBreaks(){
return typeof this._content=="number"?this._content:0}join(e){let t=(Array.isArray(this._content)?this._content:
[this]).concat(Array.isArray(e._content)?e._content:[e]);return new n(this.from,this.length+e.length,this.top,
this.height+e.height,t)}},G=(function(n){return n[n.ByPos=0]="ByPos",n[n.ByHeight=1]="ByHeight",n[n.ByPosNoHeight=
2]="ByPosNoHeight",n})(G||(G={})),Hn=.001,Ae=class n{constructor(e,t,i=2){this.length=e,this.height=t,this.flags=
i}get outdated(){return(this.flags&2)>0}set outdated(e){this.flags=(e?2:0)|this.flags&-3}setHeight(e){this.height!=
e&&(Math.abs(this.height-e)>Hn&&(gi=!0),this.height=e)}replace(e,t,i){return n.of(i)}decomposeLeft(e,t){t.push(
this)}decomposeRight(e,t){t.push(this)}applyChanges(e,t,i,s){let r=this,o=i.doc;for(let l=s.length-1;l>=0;l--){
let{fromA:a,toA:h,fromB:c,toB:f}=s[l],u=r.lineAt(a,G.ByPosNoHeight,i.setDoc(t),0,0),d=u.to>=h?u:r.lineAt(h,G.ByPosNoHeight,
i,0,0);for(f+=d.to-h,h=d.to;l>0&&u.from<=s[l-1].toA;)a=s[l-1].fromA,c=s[l-1].fromB,l--,a<u.from&&(u=r.lineAt(a,
G.ByPosNoHeight,i,0,0));c+=u.from-a,a=u.from;let p=ro.build(i.setDoc(o),e,c,f);r=Jn(r,r.replace(a,h,p))}return r.
updateHeight(i,0)}static empty(){return new Le(0,0,0)}static of(e){if(e.length==1)return e[0];let t=0,i=e.length,
s=0,r=0;for(;;)if(t==i)if(s>r*2){let l=e[t-1];l.break?e.splice(--t,1,l.left,null,l.right):e.splice(--t,1,l.left,
l.right),i+=1+l.break,s-=l.size}else if(r>s*2){let l=e[i];l.break?e.splice(i,1,l.left,null,l.right):e.splice(i,
1,l.left,l.right),i+=2+l.break,r-=l.size}else break;else if(s<r){let l=e[t++];l&&(s+=l.size)}else{let l=e[--i];
l&&(r+=l.size)}let o=!1;return e[t-1]==null?(o=!0,t--):e[t]==null&&(o=!0,i++),new so(n.of(e.slice(0,t)),o,n.of(
e.slice(i)))}};function Jn(n,e){return n==e?n:(n.constructor!=e.constructor&&(gi=!0),e)}Ae.prototype.size=1;var Xd=P.
replace({}),Zn=class extends Ae{constructor(e,t,i){super(e,t),this.deco=i,this.spaceAbove=0}mainBlock(e,t){return new Ve(
t,this.length,e+this.spaceAbove,this.height-this.spaceAbove,this.deco||0)}blockAt(e,t,i,s){return this.spaceAbove&&
e<i+this.spaceAbove?new Ve(s,0,i,this.spaceAbove,Xd):this.mainBlock(i,s)}lineAt(e,t,i,s,r){let o=this.mainBlock(
s,r);return this.spaceAbove?this.blockAt(0,i,s,r).join(o):o}forEachLine(e,t,i,s,r,o){e<=r+this.length&&t>=r&&o(
this.lineAt(0,G.ByPos,i,s,r))}setMeasuredHeight(e){let t=e.heights[e.index++];t<0?(this.spaceAbove=-t,t=e.heights[e.
index++]):this.spaceAbove=0,this.setHeight(t)}updateHeight(e,t=0,i=!1,s){return s&&s.from<=t&&s.more&&this.setMeasuredHeight(
s),this.outdated=!1,this}toString(){return`block(${this.length})`}},Le=class n extends Zn{constructor(e,t,i){super(
e,t,null),this.collapsed=0,this.widgetHeight=0,this.breaks=0,this.spaceAbove=i}mainBlock(e,t){return new Ve(t,
this.length,e+this.spaceAbove,this.height-this.spaceAbove,this.breaks)}replace(e,t,i){let s=i[0];return i.length==
1&&(s instanceof n||s instanceof gt&&s.flags&4)&&Math.abs(this.length-s.length)<10?(s instanceof gt?s=new n(s.
length,this.height,this.spaceAbove):s.height=this.height,this.outdated||(s.outdated=!1),s):Ae.of(i)}updateHeight(e,t=0,i=!1,s){
return s&&s.from<=t&&s.more?this.setMeasuredHeight(s):(i||this.outdated)&&(this.spaceAbove=0,this.setHeight(Math.
max(this.widgetHeight,e.heightForLine(this.length-this.collapsed))+this.breaks*e.lineHeight)),this.outdated=!1,
this}toString(){return`line(${this.length}${this.collapsed?-this.collapsed:""}${this.widgetHeight?":"+this.widgetHeight:
""})`}},gt=class n extends Ae{constructor(e){super(e,0)}heightMetrics(e,t){let i=e.doc.lineAt(t).number,s=e.doc.
lineAt(t+this.length).number,r=s-i+1,o,l=0;if(e.lineWrapping){let a=Math.min(this.height,e.lineHeight*r);o=a/r,
this.length>r+1&&(l=(this.height-a)/(this.length-r-1))}else o=this.height/r;return{firstLine:i,lastLine:s,perLine:o,
perChar:l}}blockAt(e,t,i,s){let{firstLine:r,lastLine:o,perLine:l,perChar:a}=this.heightMetrics(t,s);if(t.lineWrapping){
let h=s+(e<t.lineHeight?0:Math.round(Math.max(0,Math.min(1,(e-i)/this.height))*this.length)),c=t.doc.lineAt(h),
f=l+c.length*a,u=Math.max(i,e-f/2);return new Ve(c.from,c.length,u,f,0)}else{let h=Math.max(0,Math.min(o-r,Math.
floor((e-i)/l))),{from:c,length:f}=t.doc.line(r+h);return new Ve(c,f,i+l*h,l,0)}}lineAt(e,t,i,s,r){if(t==G.ByHeight)
return this.blockAt(e,i,s,r);if(t==G.ByPosNoHeight){let{from:d,to:p}=i.doc.lineAt(e);return new Ve(d,p-d,0,0,0)}
let{firstLine:o,perLine:l,perChar:a}=this.heightMetrics(i,r),h=i.doc.lineAt(e),c=l+h.length*a,f=h.number-o,u=s+
l*f+a*(h.from-r-f);return new Ve(h.from,h.length,Math.max(s,Math.min(u,s+this.height-c)),c,0)}forEachLine(e,t,i,s,r,o){
e=Math.max(e,r),t=Math.min(t,r+this.length);let{firstLine:l,perLine:a,perChar:h}=this.heightMetrics(i,r);for(let c=e,
f=s;c<=t;){let u=i.doc.lineAt(c);if(c==e){let p=u.number-l;f+=a*p+h*(e-r-p)}let d=a+h*u.length;o(new Ve(u.from,
u.length,f,d,0)),f+=d,c=u.to+1}}replace(e,t,i){let s=this.length-t;if(s>0){let r=i[i.length-1];r instanceof n?
i[i.length-1]=new n(r.length+s):i.push(null,new n(s-1))}if(e>0){let r=i[0];r instanceof n?i[0]=new n(e+r.length):
i.unshift(new n(e-1),null)}return Ae.of(i)}decomposeLeft(e,t){t.push(new n(e-1),null)}decomposeRight(e,t){t.push(
null,new n(this.length-e-1))}updateHeight(e,t=0,i=!1,s){let r=t+this.length;if(s&&s.from<=t+this.length&&s.more){
let o=[],l=Math.max(t,s.from),a=-1;for(s.from>t&&o.push(new n(s.from-t-1).updateHeight(e,t));l<=r&&s.more;){let c=e.
doc.lineAt(l).length;o.length&&o.push(null);let f=s.heights[s.index++],u=0;f<0&&(u=-f,f=s.heights[s.index++]),
a==-1?a=f:Math.abs(f-a)>=Hn&&(a=-2);let d=new Le(c,f,u);d.outdated=!1,o.push(d),l+=c+1}l<=r&&o.push(null,new n(
r-l).updateHeight(e,l));let h=Ae.of(o);return(a<0||Math.abs(h.height-this.height)>=Hn||Math.abs(a-this.heightMetrics(
e,t).perLine)>=Hn)&&(gi=!0),Jn(this,h)}else(i||this.outdated)&&(this.setHeight(e.heightForGap(t,t+this.length)),
this.outdated=!1);return this}toString(){return`gap(${this.length})`}},so=class extends Ae{constructor(e,t,i){
super(e.length+(t?1:0)+i.length,e.height+i.height,(t?1:0)|(e.outdated||i.outdated?2:0)),this.left=e,this.right=
i,this.size=e.size+i.size}get break(){return this.flags&1}blockAt(e,t,i,s){let r=i+this.left.height;return e<r?
this.left.blockAt(e,t,i,s):this.right.blockAt(e,t,r,s+this.left.length+this.break)}lineAt(e,t,i,s,r){let o=s+this.
left.height,l=r+this.left.length+this.break,a=t==G.ByHeight?e<o:e<l,h=a?this.left.lineAt(e,t,i,s,r):this.right.
lineAt(e,t,i,o,l);if(this.break||(a?h.to<l:h.from>l))return h;let c=t==G.ByPosNoHeight?G.ByPosNoHeight:G.ByPos;
return a?h.join(this.right.lineAt(l,c,i,o,l)):this.left.lineAt(l,c,i,s,r).join(h)}forEachLine(e,t,i,s,r,o){let l=s+
this.left.height,a=r+this.left.length+this.break;if(this.break)e<a&&this.left.forEachLine(e,t,i,s,r,o),t>=a&&this.
right.forEachLine(e,t,i,l,a,o);else{let h=this.lineAt(a,G.ByPos,i,s,r);e<h.from&&this.left.forEachLine(e,Math.
min(t,h.from-1),i,s,r,o),h.to>=e&&h.from<=t&&o(h),t>h.to&&this.right.forEachLine(Math.max(e,h.to+1),t,i,l,a,o)}}replace(e,t,i){
let s=this.left.length+this.break;if(t<s)return this.balanced(this.left.replace(e,t,i),this.right);if(e>this.left.
length)return this.balanced(this.left,this.right.replace(e-s,t-s,i));let r=[];e>0&&this.decomposeLeft(e,r);let o=r.
length;for(let l of i)r.push(l);if(e>0&&Ha(r,o-1),t<this.length){let l=r.length;this.decomposeRight(t,r),Ha(r,
l)}return Ae.of(r)}decomposeLeft(e,t){let i=this.left.length;if(e<=i)return this.left.decomposeLeft(e,t);t.push(
this.left),this.break&&(i++,e>=i&&t.push(null)),e>i&&this.right.decomposeLeft(e-i,t)}decomposeRight(e,t){let i=this.
left.length,s=i+this.break;if(e>=s)return this.right.decomposeRight(e-s,t);e<i&&this.left.decomposeRight(e,t),
this.break&&e<s&&t.push(null),t.push(this.right)}balanced(e,t){return e.size>2*t.size||t.size>2*e.size?Ae.of(this.
break?[e,null,t]:[e,t]):(this.left=Jn(this.left,e),this.right=Jn(this.right,t),this.setHeight(e.height+t.height),
this.outdated=e.outdated||t.outdated,this.size=e.size+t.size,this.length=e.length+this.break+t.length,this)}updateHeight(e,t=0,i=!1,s){
let{left:r,right:o}=this,l=t+r.length+this.break,a=null;return s&&s.from<=t+r.length&&s.more?a=r=r.updateHeight(
e,t,i,s):r.updateHeight(e,t,i),s&&s.from<=l+o.length&&s.more?a=o=o.updateHeight(e,l,i,s):o.updateHeight(e,l,i),
a?this.balanced(r,o):(this.height=this.left.height+this.right.height,this.outdated=!1,this)}toString(){return this.
left+(this.break?" ":"-")+this.right}};function Ha(n,e){let t,i;n[e]==null&&(t=n[e-1])instanceof gt&&(i=n[e+1])instanceof
gt&&n.splice(e-1,3,new gt(t.length+1+i.length))}var Qd=5,ro=class n{constructor(e,t){this.pos=e,this.oracle=t,
this.nodes=[],this.lineStart=-1,this.lineEnd=-1,this.covering=null,this.writtenTo=e}get isCovered(){return this.
covering&&this.nodes[this.nodes.length-1]==this.covering}span(e,t){if(this.lineStart>-1){let i=Math.min(t,this.
lineEnd),s=this.nodes[this.nodes.length-1];s instanceof Le?s.length+=i-this.pos:(i>this.pos||!this.isCovered)&&
this.nodes.push(new Le(i-this.pos,-1,0)),this.writtenTo=i,t>i&&(this.nodes.push(null),this.writtenTo++,this.lineStart=
-1)}this.pos=t}point(e,t,i){if(e<t||i.heightRelevant){let s=i.widget?i.widget.estimatedHeight:0,r=i.widget?i.widget.
lineBreaks:0;s<0&&(s=this.oracle.lineHeight);let o=t-e;i.block?this.addBlock(new Zn(o,s,i)):(o||r||s>=Qd)&&this.
addLineDeco(s,r,o)}else t>e&&this.span(e,t);this.lineEnd>-1&&this.lineEnd<this.pos&&(this.lineEnd=this.oracle.
doc.lineAt(this.pos).to)}enterLine(){if(this.lineStart>-1)return;let{from:e,to:t}=this.oracle.doc.lineAt(this.
pos);this.lineStart=e,this.lineEnd=t,this.writtenTo<e&&((this.writtenTo<e-1||this.nodes[this.nodes.length-1]==
null)&&this.nodes.push(this.blankContent(this.writtenTo,e-1)),this.nodes.push(null)),this.pos>e&&this.nodes.push(
new Le(this.pos-e,-1,0)),this.writtenTo=this.pos}blankContent(e,t){let i=new gt(t-e);return this.oracle.doc.lineAt(
e).to==t&&(i.flags|=4),i}ensureLine(){this.enterLine();let e=this.nodes.length?this.nodes[this.nodes.length-1]:
null;if(e instanceof Le)return e;let t=new Le(0,-1,0);return this.nodes.push(t),t}addBlock(e){this.enterLine();
let t=e.deco;t&&t.startSide>0&&!this.isCovered&&this.ensureLine(),this.nodes.push(e),this.writtenTo=this.pos=this.
pos+e.length,t&&t.endSide>0&&(this.covering=e)}addLineDeco(e,t,i){let s=this.ensureLine();s.length+=i,s.collapsed+=
i,s.widgetHeight=Math.max(s.widgetHeight,e),s.breaks+=t,this.writtenTo=this.pos=this.pos+i}finish(e){let t=this.
nodes.length==0?null:this.nodes[this.nodes.length-1];this.lineStart>-1&&!(t instanceof Le)&&!this.isCovered?this.
nodes.push(new Le(0,-1,0)):(this.writtenTo<this.pos||t==null)&&this.nodes.push(this.blankContent(this.writtenTo,
this.pos));let i=e;for(let s of this.nodes)s instanceof Le&&s.updateHeight(this.oracle,i),i+=s?s.length:1;return this.
nodes}static build(e,t,i,s){let r=new n(i,e);return W.spans(t,i,s,r,0),r.finish(i)}};function Jd(n,e,t){let i=new oo;
return W.compare(n,e,t,i,0),i.changes}var oo=class{constructor(){this.changes=[]}compareRange(){}comparePoint(e,t,i,s){
(e<t||i&&i.heightRelevant||s&&s.heightRelevant)&&ai(e,t,this.changes,5)}};function Zd(n,e){let t=n.getBoundingClientRect(),
i=n.ownerDocument,s=i.defaultView||window,r=Math.max(0,t.left),o=Math.min(s.innerWidth,t.right),l=Math.max(0,t.
top),a=Math.min(s.innerHeight,t.bottom);for(let h=n.parentNode;h&&h!=i.body;)if(ne(h)){let c=window.getComputedStyle(
h);if((h.scrollHeight>h.clientHeight||h.scrollWidth>h.clientWidth)&&c.overflow!="visible"){let f=h.getBoundingClientRect();
r=Math.max(r,f.left),o=Math.min(o,f.right),l=Math.max(l,f.top),a=Math.min(h==n.parentNode?s.innerHeight:a,f.bottom)}
h=c.position=="absolute"||c.position=="fixed"?h.offsetParent:h.parentNode}else if(h.nodeType==11)h=h.host;else
break;return{left:r-t.left,right:Math.max(r,o)-t.left,top:l-(t.top+e),bottom:Math.max(l,a)-(t.top+e)}}function ep(n){
let e=n.getBoundingClientRect(),t=n.ownerDocument.defaultView||window;return e.left<t.innerWidth&&e.right>0&&e.
top<t.innerHeight&&e.bottom>0}function tp(n,e){let t=n.getBoundingClientRect();return{left:0,right:t.right-t.left,
top:e,bottom:t.bottom-(t.top+e)}}var zi=class{constructor(e,t,i,s){this.from=e,this.to=t,this.size=i,this.displaySize=
s}static same(e,t){if(e.length!=t.length)return!1;for(let i=0;i<e.length;i++){let s=e[i],r=t[i];if(s.from!=r.from||
s.to!=r.to||s.size!=r.size)return!1}return!0}draw(e,t){return P.replace({widget:new lo(this.displaySize*(t?e.scaleY:
e.scaleX),t)}).range(this.from,this.to)}},lo=class extends we{constructor(e,t){super(),this.size=e,this.vertical=
t}eq(e){return e.size==this.size&&e.vertical==this.vertical}toDOM(){let e=document.createElement("div");return this.
vertical?e.style.height=this.size+"px":(e.style.width=this.size+"px",e.style.height="2px",e.style.display="inl\
ine-block"),e}get estimatedHeight(){return this.vertical?this.size:-1}},es=class{constructor(e,t){this.view=e,
this.state=t,this.pixelViewport={left:0,right:window.innerWidth,top:0,bottom:0},this.inView=!0,this.paddingTop=
0,this.paddingBottom=0,this.contentDOMWidth=0,this.contentDOMHeight=0,this.editorHeight=0,this.editorWidth=0,this.
scaleX=1,this.scaleY=1,this.scrollOffset=0,this.scrolledToBottom=!1,this.scrollAnchorPos=0,this.scrollAnchorHeight=
-1,this.scaler=ao,this.scrollTarget=null,this.printing=!1,this.mustMeasureContent=!0,this.defaultTextDirection=
z.LTR,this.visibleRanges=[],this.mustEnforceCursorAssoc=!1;let i=t.facet(Bo).some(s=>typeof s!="function"&&s.class==
"cm-lineWrapping");this.heightOracle=new io(i),this.stateDeco=Va(t),this.heightMap=Ae.empty().applyChanges(this.
stateDeco,F.empty,this.heightOracle.setDoc(t.doc),[new ze(0,0,0,t.doc.length)]);for(let s=0;s<2&&(this.viewport=
this.getViewport(0,null),!!this.updateForViewport());s++);this.updateViewportLines(),this.lineGaps=this.ensureLineGaps(
[]),this.lineGapDeco=P.set(this.lineGaps.map(s=>s.draw(this,!1))),this.scrollParent=e.scrollDOM,this.computeVisibleRanges()}updateForViewport(){
let e=[this.viewport],{main:t}=this.state.selection;for(let i=0;i<=1;i++){let s=i?t.head:t.anchor;if(!e.some(({
from:r,to:o})=>s>=r&&s<=o)){let{from:r,to:o}=this.lineBlockAt(s);e.push(new ri(r,o))}}return this.viewports=e.
sort((i,s)=>i.from-s.from),this.updateScaler()}updateScaler(){let e=this.scaler;return this.scaler=this.heightMap.
height<=7e6?ao:ho.get(this.heightOracle,this.heightMap,this.viewports),e.eq(this.scaler)?0:2}updateViewportLines(){
this.viewportLines=[],this.heightMap.forEachLine(this.viewport.from,this.viewport.to,this.heightOracle.setDoc(
this.state.doc),0,0,e=>{this.viewportLines.push(Ei(e,this.scaler))})}update(e,t=null){this.state=e.state;let i=this.
stateDeco;this.stateDeco=Va(this.state);let s=e.changedRanges,r=ze.extendWithRanges(s,Jd(i,this.stateDeco,e?e.
changes:pe.empty(this.state.doc.length))),o=this.heightMap.height,l=this.scrolledToBottom?null:this.scrollAnchorAt(
this.scrollOffset);Wa(),this.heightMap=this.heightMap.applyChanges(this.stateDeco,e.startState.doc,this.heightOracle.
setDoc(this.state.doc),r),(this.heightMap.height!=o||gi)&&(e.flags|=2),l?(this.scrollAnchorPos=e.changes.mapPos(
l.from,-1),this.scrollAnchorHeight=l.top):(this.scrollAnchorPos=-1,this.scrollAnchorHeight=o);let a=r.length?this.
mapViewport(this.viewport,e.changes):this.viewport;(t&&(t.range.head<a.from||t.range.head>a.to)||!this.viewportIsAppropriate(
a))&&(a=this.getViewport(0,t));let h=a.from!=this.viewport.from||a.to!=this.viewport.to;this.viewport=a,e.flags|=
this.updateForViewport(),(h||!e.changes.empty||e.flags&2)&&this.updateViewportLines(),(this.lineGaps.length||this.
viewport.to-this.viewport.from>4e3)&&this.updateLineGaps(this.ensureLineGaps(this.mapLineGaps(this.lineGaps,e.
changes))),e.flags|=this.computeVisibleRanges(e.changes),t&&(this.scrollTarget=t),!this.mustEnforceCursorAssoc&&
(e.selectionSet||e.focusChanged)&&e.view.lineWrapping&&e.state.selection.main.empty&&e.state.selection.main.assoc&&
!e.state.facet(Ch)&&(this.mustEnforceCursorAssoc=!0)}measure(){let{view:e}=this,t=e.contentDOM,i=window.getComputedStyle(
t),s=this.heightOracle,r=i.whiteSpace;this.defaultTextDirection=i.direction=="rtl"?z.RTL:z.LTR;let o=this.heightOracle.
mustRefreshForWrapping(r)||this.mustMeasureContent==="refresh",l=t.getBoundingClientRect(),a=o||this.mustMeasureContent||
this.contentDOMHeight!=l.height;this.contentDOMHeight=l.height,this.mustMeasureContent=!1;let h=0,c=0;if(l.width&&
l.height){let{scaleX:w,scaleY:v}=sh(t,l);(w>.005&&Math.abs(this.scaleX-w)>.005||v>.005&&Math.abs(this.scaleY-v)>
.005)&&(this.scaleX=w,this.scaleY=v,h|=16,o=a=!0)}let f=(parseInt(i.paddingTop)||0)*this.scaleY,u=(parseInt(i.
paddingBottom)||0)*this.scaleY;(this.paddingTop!=f||this.paddingBottom!=u)&&(this.paddingTop=f,this.paddingBottom=
u,h|=18),this.editorWidth!=e.scrollDOM.clientWidth&&(s.lineWrapping&&(a=!0),this.editorWidth=e.scrollDOM.clientWidth,
h|=16);let d=rh(this.view.contentDOM,!1).y;d!=this.scrollParent&&(this.scrollParent=d,this.scrollAnchorHeight=
-1,this.scrollOffset=0);let p=this.getScrollOffset();this.scrollOffset!=p&&(this.scrollAnchorHeight=-1,this.scrollOffset=
p),this.scrolledToBottom=hh(this.scrollParent||e.win);let m=(this.printing?tp:Zd)(t,this.paddingTop),g=m.top-this.
pixelViewport.top,b=m.bottom-this.pixelViewport.bottom;this.pixelViewport=m;let T=this.pixelViewport.bottom>this.
pixelViewport.top&&this.pixelViewport.right>this.pixelViewport.left;if(T!=this.inView&&(this.inView=T,T&&(a=!0)),
!this.inView&&!this.scrollTarget&&!ep(e.dom))return 0;let x=l.width;if((this.contentDOMWidth!=x||this.editorHeight!=
e.scrollDOM.clientHeight)&&(this.contentDOMWidth=l.width,this.editorHeight=e.scrollDOM.clientHeight,h|=16),a){
let w=e.docView.measureVisibleLineHeights(this.viewport);if(s.mustRefreshForHeights(w)&&(o=!0),o||s.lineWrapping&&
Math.abs(x-this.contentDOMWidth)>s.charWidth){let{lineHeight:v,charWidth:A,textHeight:E}=e.docView.measureTextSize();
o=v>0&&s.refresh(r,v,A,E,Math.max(5,x/A),w),o&&(e.docView.minWidth=0,h|=16)}g>0&&b>0?c=Math.max(g,b):g<0&&b<0&&
(c=Math.min(g,b)),Wa();for(let v of this.viewports){let A=v.from==this.viewport.from?w:e.docView.measureVisibleLineHeights(
v);this.heightMap=(o?Ae.empty().applyChanges(this.stateDeco,F.empty,this.heightOracle,[new ze(0,0,0,e.state.doc.
length)]):this.heightMap).updateHeight(s,0,o,new no(v.from,A))}gi&&(h|=2)}let D=!this.viewportIsAppropriate(this.
viewport,c)||this.scrollTarget&&(this.scrollTarget.range.head<this.viewport.from||this.scrollTarget.range.head>
this.viewport.to);return D&&(h&2&&(h|=this.updateScaler()),this.viewport=this.getViewport(c,this.scrollTarget),
h|=this.updateForViewport()),(h&2||D)&&this.updateViewportLines(),(this.lineGaps.length||this.viewport.to-this.
viewport.from>4e3)&&this.updateLineGaps(this.ensureLineGaps(o?[]:this.lineGaps,e)),h|=this.computeVisibleRanges(),
this.mustEnforceCursorAssoc&&(this.mustEnforceCursorAssoc=!1,e.docView.enforceCursorAssoc()),h}get visibleTop(){
return this.scaler.fromDOM(this.pixelViewport.top)}get visibleBottom(){return this.scaler.fromDOM(this.pixelViewport.
bottom)}getViewport(e,t){let i=.5-Math.max(-.5,Math.min(.5,e/1e3/2)),s=this.heightMap,r=this.heightOracle,{visibleTop:o,
visibleBottom:l}=this,a=new ri(s.lineAt(o-i*1e3,G.ByHeight,r,0,0).from,s.lineAt(l+(1-i)*1e3,G.ByHeight,r,0,0).
to);if(t){let{head:h}=t.range;if(h<a.from||h>a.to){let c=Math.min(this.editorHeight,this.pixelViewport.bottom-
this.pixelViewport.top),f=s.lineAt(h,G.ByPos,r,0,0),u;t.y=="center"?u=(f.top+f.bottom)/2-c/2:t.y=="start"||t.y==
"nearest"&&h<a.from?u=f.top:u=f.bottom-c,a=new ri(s.lineAt(u-1e3/2,G.ByHeight,r,0,0).from,s.lineAt(u+c+1e3/2,G.
ByHeight,r,0,0).to)}}return a}mapViewport(e,t){let i=t.mapPos(e.from,-1),s=t.mapPos(e.to,1);return new ri(this.
heightMap.lineAt(i,G.ByPos,this.heightOracle,0,0).from,this.heightMap.lineAt(s,G.ByPos,this.heightOracle,0,0).
to)}viewportIsAppropriate({from:e,to:t},i=0){if(!this.inView)return!0;let{top:s}=this.heightMap.lineAt(e,G.ByPos,
this.heightOracle,0,0),{bottom:r}=this.heightMap.lineAt(t,G.ByPos,this.heightOracle,0,0),{visibleTop:o,visibleBottom:l}=this;
return(e==0||s<=o-Math.max(10,Math.min(-i,250)))&&(t==this.state.doc.length||r>=l+Math.max(10,Math.min(i,250)))&&
s>o-2*1e3&&r<l+2*1e3}mapLineGaps(e,t){if(!e.length||t.empty)return e;let i=[];for(let s of e)t.touchesRange(s.
from,s.to)||i.push(new zi(t.mapPos(s.from),t.mapPos(s.to),s.size,s.displaySize));return i}ensureLineGaps(e,t){
let i=this.heightOracle.lineWrapping,s=i?1e4:2e3,r=s>>1,o=s<<1;if(this.defaultTextDirection!=z.LTR&&!i)return[];
let l=[],a=(c,f,u,d)=>{if(f-c<r)return;let p=this.state.selection.main,m=[p.from];p.empty||m.push(p.to);for(let b of m)
if(b>c&&b<f){a(c,b-10,u,d),a(b+10,f,u,d);return}let g=np(e,b=>b.from>=u.from&&b.to<=u.to&&Math.abs(b.from-c)<r&&
Math.abs(b.to-f)<r&&!m.some(T=>b.from<T&&b.to>T));if(!g){if(f<u.to&&t&&i&&t.visibleRanges.some(x=>x.from<=f&&x.
to>=f)){let x=t.moveToLineBoundary(y.cursor(f),!1,!0).head;x>c&&(f=x)}let b=this.gapSize(u,c,f,d),T=i||b<2e6?b:
2e6;g=new zi(c,f,b,T)}l.push(g)},h=c=>{if(c.length<o||c.type!=oe.Text)return;let f=ip(c.from,c.to,this.stateDeco);
if(f.total<o)return;let u=this.scrollTarget?this.scrollTarget.range.head:null,d,p;if(i){let m=s/this.heightOracle.
lineLength*this.heightOracle.lineHeight,g,b;if(u!=null){let T=Ln(f,u),x=((this.visibleBottom-this.visibleTop)/
2+m)/c.height;g=T-x,b=T+x}else g=(this.visibleTop-c.top-m)/c.height,b=(this.visibleBottom-c.top+m)/c.height;d=
Bn(f,g),p=Bn(f,b)}else{let m=f.total*this.heightOracle.charWidth,g=s*this.heightOracle.charWidth,b=0;if(m>2e6)
for(let v of e)v.from>=c.from&&v.from<c.to&&v.size!=v.displaySize&&v.from*this.heightOracle.charWidth+b<this.pixelViewport.
left&&(b=v.size-v.displaySize);let T=this.pixelViewport.left+b,x=this.pixelViewport.right+b,D,w;if(u!=null){let v=Ln(
f,u),A=((x-T)/2+g)/m;D=v-A,w=v+A}else D=(T-g)/m,w=(x+g)/m;d=Bn(f,D),p=Bn(f,w)}d>c.from&&a(c.from,d,c,f),p<c.to&&
a(p,c.to,c,f)};for(let c of this.viewportLines)Array.isArray(c.type)?c.type.forEach(h):h(c);return l}gapSize(e,t,i,s){
let r=Ln(s,i)-Ln(s,t);return this.heightOracle.lineWrapping?e.height*r:s.total*this.heightOracle.charWidth*r}updateLineGaps(e){
zi.same(e,this.lineGaps)||(this.lineGaps=e,this.lineGapDeco=P.set(e.map(t=>t.draw(this,this.heightOracle.lineWrapping))))}computeVisibleRanges(e){
let t=this.stateDeco;this.lineGaps.length&&(t=t.concat(this.lineGapDeco));let i=[];W.spans(t,this.viewport.from,
this.viewport.to,{span(r,o){i.push({from:r,to:o})},point(){}},20);let s=0;if(i.length!=this.visibleRanges.length)
s=12;else for(let r=0;r<i.length&&!(s&8);r++){let o=this.visibleRanges[r],l=i[r];(o.from!=l.from||o.to!=l.to)&&
(s|=4,e&&e.mapPos(o.from,-1)==l.from&&e.mapPos(o.to,1)==l.to||(s|=8))}return this.visibleRanges=i,s}lineBlockAt(e){
return e>=this.viewport.from&&e<=this.viewport.to&&this.viewportLines.find(t=>t.from<=e&&t.to>=e)||Ei(this.heightMap.
lineAt(e,G.ByPos,this.heightOracle,0,0),this.scaler)}lineBlockAtHeight(e){return e>=this.viewportLines[0].top&&
e<=this.viewportLines[this.viewportLines.length-1].bottom&&this.viewportLines.find(t=>t.top<=e&&t.bottom>=e)||
Ei(this.heightMap.lineAt(this.scaler.fromDOM(e),G.ByHeight,this.heightOracle,0,0),this.scaler)}getScrollOffset(){
return this.scrollParent==this.view.scrollDOM?this.scrollParent.scrollTop*this.scaleY:(this.scrollParent?this.
scrollParent.getBoundingClientRect().top:0)-this.view.contentDOM.getBoundingClientRect().top}scrollAnchorAt(e){
let t=this.lineBlockAtHeight(e+12-this.paddingTop);return t.from>=this.viewport.from||this.viewportLines[0].top-
e>200?t:this.viewportLines[0]}elementAtHeight(e){return Ei(this.heightMap.blockAt(this.scaler.fromDOM(e),this.
heightOracle,0,0),this.scaler)}get docHeight(){return this.scaler.toDOM(this.heightMap.height)}get contentHeight(){
return this.docHeight+this.paddingTop+this.paddingBottom}},ri=class{constructor(e,t){this.from=e,this.to=t}};function ip(n,e,t){
let i=[],s=n,r=0;return W.spans(t,n,e,{span(){},point(o,l){o>s&&(i.push({from:s,to:o}),r+=o-s),s=l}},20),s<e&&
(i.push({from:s,to:e}),r+=e-s),{total:r,ranges:i}}function Bn({total:n,ranges:e},t){if(t<=0)return e[0].from;if(t>=
1)return e[e.length-1].to;let i=Math.floor(n*t);for(let s=0;;s++){let{from:r,to:o}=e[s],l=o-r;if(i<=l)return r+
i;i-=l}}function Ln(n,e){let t=0;for(let{from:i,to:s}of n.ranges){if(e<=s){t+=e-i;break}t+=s-i}return t/n.total}
function np(n,e){for(let t of n)if(e(t))return t}var ao={toDOM(n){return n},fromDOM(n){return n},scale:1,eq(n){
return n==this}};function Va(n){let e=n.facet(as).filter(i=>typeof i!="function"),t=n.facet(Lo).filter(i=>typeof i!=
"function");return t.length&&e.push(W.join(t)),e}var ho=class n{constructor(e,t){this.scale=e,this.viewports=t}static get(e,t,i){
let s=0,r=0,o=0,l=i.map(({from:h,to:c})=>{let f=t.lineAt(h,G.ByPos,e,0,0).top,u=t.lineAt(c,G.ByPos,e,0,0).bottom;
return s+=u-f,{from:h,to:c,top:f,bottom:u,domTop:0,domBottom:0}});if(t.height-s<10)return ao;let a=(7e6-s)/(t.
height-s);for(let h of l)h.domTop=o+(h.top-r)*a,o=h.domBottom=h.domTop+(h.bottom-h.top),r=h.bottom;return new n(
a,l)}toDOM(e){for(let t=0,i=0,s=0;;t++){let r=t<this.viewports.length?this.viewports[t]:null;if(!r||e<r.top)return s+
(e-i)*this.scale;if(e<=r.bottom)return r.domTop+(e-r.top);i=r.bottom,s=r.domBottom}}fromDOM(e){for(let t=0,i=0,
s=0;;t++){let r=t<this.viewports.length?this.viewports[t]:null;if(!r||e<r.domTop)return i+(e-s)/this.scale;if(e<=
r.domBottom)return r.top+(e-r.domTop);i=r.bottom,s=r.domBottom}}eq(e){return e instanceof n?this.scale==e.scale&&
this.viewports.length==e.viewports.length&&this.viewports.every((t,i)=>t.from==e.viewports[i].from&&t.to==e.viewports[i].
to):!1}};function Ei(n,e){if(e.scale==1)return n;let t=e.toDOM(n.top),i=e.toDOM(n.bottom);return new Ve(n.from,
n.length,t,i-t,Array.isArray(n._content)?n._content.map(s=>Ei(s,e)):n._content)}var En=S.define({combine:n=>n.
join(" ")}),co=S.define({combine:n=>n.indexOf(!0)>-1}),fo=Be.newName(),Uh=Be.newName(),Gh=Be.newName(),_h={"&l\
ight":"."+Uh,"&dark":"."+Gh};function uo(n,e,t){return new Be(e,{finish(i){return/&/.test(i)?i.replace(/&\w*/,
s=>{if(s=="&")return n;if(!t||!t[s])throw new RangeError(`Unsupported selector: ${s}`);return t[s]}):n+" "+i}})}
var sp=uo("."+fo,{"&":{position:"relative !important",boxSizing:"border-box","&.cm-focused":{outline:"1px dott\
ed #212121"},display:"flex !important",flexDirection:"column"},".cm-scroller":{display:"flex !important",alignItems:"\
flex-start !important",fontFamily:"monospace",lineHeight:1.4,height:"100%",overflowX:"auto",position:"relative",
zIndex:0,overflowAnchor:"none"},".cm-content":{margin:0,flexGrow:2,flexShrink:0,display:"block",whiteSpace:"pr\
e",wordWrap:"normal",boxSizing:"border-box",minHeight:"100%",padding:"4px 0",outline:"none","&[contenteditable\
=true]":{WebkitUserModify:"read-write-plaintext-only"}},".cm-lineWrapping":{whiteSpace_fallback:"pre-wrap",whiteSpace:"\
break-spaces",wordBreak:"break-word",overflowWrap:"anywhere",flexShrink:1},"&light .cm-content":{caretColor:"b\
lack"},"&dark .cm-content":{caretColor:"white"},".cm-line":{display:"block",padding:"0 2px 0 6px"},".cm-layer":{
userSelect:"none",position:"absolute",left:0,top:0,contain:"size style","& > *":{position:"absolute"}},"&light\
 .cm-selectionBackground":{background:"#d9d9d9"},"&dark .cm-selectionBackground":{background:"#222"},"&light.c\
m-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground":{background:"#d7d4f0"},"&dark.cm-focuse\
d > .cm-scroller > .cm-selectionLayer .cm-selectionBackground":{background:"#233"},".cm-cursorLayer":{pointerEvents:"\
none"},"&.cm-focused > .cm-scroller > .cm-cursorLayer":{animation:"steps(1) cm-blink 1.2s infinite"},"@keyfram\
es cm-blink":{"0%":{},"50%":{opacity:0},"100%":{}},"@keyframes cm-blink2":{"0%":{},"50%":{opacity:0},"100%":{}},
".cm-cursor, .cm-dropCursor":{borderLeft:"1.2px solid black",marginLeft:"-0.6px",pointerEvents:"none"},".cm-cu\
rsor":{display:"none"},"&dark .cm-cursor":{borderLeftColor:"#ddd"},".cm-selectionHandle":{backgroundColor:"cur\
rentColor",width:"1.5px"},".cm-selectionHandle-start::before, .cm-selectionHandle-end::before":{content:'""',backgroundColor:"\
inherit",borderRadius:"50%",width:"8px",height:"8px",position:"absolute",left:"-3.25px"},".cm-selectionHandle-\
start::before":{top:"-8px"},".cm-selectionHandle-end::before":{bottom:"-8px"},".cm-dropCursor":{position:"abso\
lute"},"&.cm-focused > .cm-scroller > .cm-cursorLayer .cm-cursor":{display:"block"},".cm-iso":{unicodeBidi:"is\
olate"},".cm-announced":{position:"fixed",top:"-10000px"},"@media print":{".cm-announced":{display:"none"}},"&\
light .cm-activeLine":{backgroundColor:"#cceeff44"},"&dark .cm-activeLine":{backgroundColor:"#99eeff33"},"&lig\
ht .cm-specialChar":{color:"red"},"&dark .cm-specialChar":{color:"#f78"},".cm-gutters":{flexShrink:0,display:"\
flex",height:"100%",boxSizing:"border-box",zIndex:200},".cm-gutters-before":{insetInlineStart:0},".cm-gutters-\
after":{insetInlineEnd:0},"&light .cm-gutters":{backgroundColor:"#f5f5f5",color:"#6c6c6c",border:"0px solid #d\
dd","&.cm-gutters-before":{borderRightWidth:"1px"},"&.cm-gutters-after":{borderLeftWidth:"1px"}},"&dark .cm-gu\
tters":{backgroundColor:"#333338",color:"#ccc"},".cm-gutter":{display:"flex !important",flexDirection:"column",
flexShrink:0,boxSizing:"border-box",minHeight:"100%",overflow:"hidden"},".cm-gutterElement":{boxSizing:"border\
-box"},".cm-lineNumbers .cm-gutterElement":{padding:"0 3px 0 5px",minWidth:"20px",textAlign:"right",whiteSpace:"\
nowrap"},"&light .cm-activeLineGutter":{backgroundColor:"#e2f2ff"},"&dark .cm-activeLineGutter":{backgroundColor:"\
#222227"},".cm-panels":{boxSizing:"border-box",position:"sticky",left:0,right:0,zIndex:300},"&light .cm-panels":{
backgroundColor:"#f5f5f5",color:"black"},".cm-panels-top":{top:"0"},".cm-panels-bottom":{bottom:"0"},"&light .\
cm-panels-top":{borderBottom:"1px solid #ddd"},"&light .cm-panels-bottom":{borderTop:"1px solid #ddd"},"&dark \
.cm-panels":{backgroundColor:"#333338",color:"white"},".cm-dialog":{padding:"2px 19px 4px 6px",position:"relat\
ive","& label":{fontSize:"80%"}},".cm-dialog-close":{position:"absolute",top:"3px",right:"4px",backgroundColor:"\
inherit",border:"none",font:"inherit",fontSize:"14px",padding:"0"},".cm-tab":{display:"inline-block",overflow:"\
hidden",verticalAlign:"bottom"},".cm-widgetBuffer":{verticalAlign:"baseline",height:"1em",width:0,display:"inl\
ine"},".cm-placeholder":{color:"#888",display:"inline-block",verticalAlign:"top",userSelect:"none"},".cm-highl\
ightSpace":{background:"radial-gradient(circle at 50% 55%, #aaa 20%, transparent 0) no-repeat",backgroundSize:"\
.4em",backgroundPosition:"calc(min(50%, 0px)) center"},".cm-highlightTab":{backgroundImage:`url('data:image/sv\
g+xml,<svg xmlns="http://www.w3.org/2000/svg" width="200" height="20"><path stroke="%23888" stroke-width="1" f\
ill="none" d="M1 10H196L190 5M190 15L196 10M197 4L197 16"/></svg>')`,backgroundSize:"auto 100%",backgroundPosition:"\
right 90%",backgroundRepeat:"no-repeat"},".cm-trailingSpace":{backgroundColor:"#ff332255"},".cm-button":{verticalAlign:"\
middle",color:"inherit",fontSize:"70%",padding:".2em 1em",borderRadius:"1px"},"&light .cm-button":{backgroundImage:"\
linear-gradient(#eff1f5, #d9d9df)",border:"1px solid #888","&:active":{backgroundImage:"linear-gradient(#b4b4b\
4, #d0d3d6)"}},"&dark .cm-button":{backgroundImage:"linear-gradient(#393939, #111)",border:"1px solid #888","&\
:active":{backgroundImage:"linear-gradient(#111, #333)"}},".cm-textfield":{verticalAlign:"middle",color:"inher\
it",fontSize:"70%",border:"1px solid silver",padding:".2em .5em"},"&light .cm-textfield":{backgroundColor:"whi\
te"},"&dark .cm-textfield":{border:"1px solid #555",backgroundColor:"inherit"}},_h),rp={childList:!0,characterData:!0,
subtree:!0,attributes:!0,characterDataOldValue:!0},Ar=M.ie&&M.ie_version<=11,po=class{constructor(e){this.view=
e,this.active=!1,this.editContext=null,this.selectionRange=new Er,this.selectionChanged=!1,this.delayedFlush=-1,
this.resizeTimeout=-1,this.queue=[],this.delayedAndroidKey=null,this.flushingAndroidKey=-1,this.lastChange=0,this.
scrollTargets=[],this.intersection=null,this.resizeScroll=null,this.intersecting=!1,this.gapIntersection=null,
this.gaps=[],this.printQuery=null,this.parentCheck=-1,this.dom=e.contentDOM,this.observer=new MutationObserver(
t=>{for(let i of t)this.queue.push(i);(M.ie&&M.ie_version<=11||M.ios&&e.composing)&&t.some(i=>i.type=="childLi\
st"&&i.removedNodes.length||i.type=="characterData"&&i.oldValue.length>i.target.nodeValue.length)?this.flushSoon():
this.flush()}),window.EditContext&&M.android&&e.constructor.EDIT_CONTEXT!==!1&&!(M.chrome&&M.chrome_version<126)&&
(this.editContext=new mo(e),e.state.facet(at)&&(e.contentDOM.editContext=this.editContext.editContext)),Ar&&(this.
onCharData=t=>{this.queue.push({target:t.target,type:"characterData",oldValue:t.prevValue}),this.flushSoon()}),
this.onSelectionChange=this.onSelectionChange.bind(this),this.onResize=this.onResize.bind(this),this.onPrint=this.
onPrint.bind(this),this.onScroll=this.onScroll.bind(this),window.matchMedia&&(this.printQuery=window.matchMedia(
"print")),typeof ResizeObserver=="function"&&(this.resizeScroll=new ResizeObserver(()=>{var t;((t=this.view.docView)===
null||t===void 0?void 0:t.lastUpdate)<Date.now()-75&&this.onResize()}),this.resizeScroll.observe(e.scrollDOM)),
this.addWindowListeners(this.win=e.win),this.start(),typeof IntersectionObserver=="function"&&(this.intersection=
new IntersectionObserver(t=>{this.parentCheck<0&&(this.parentCheck=setTimeout(this.listenForScroll.bind(this),
1e3)),t.length>0&&t[t.length-1].intersectionRatio>0!=this.intersecting&&(this.intersecting=!this.intersecting,
this.intersecting!=this.view.inView&&this.onScrollChanged(document.createEvent("Event")))},{threshold:[0,.001]}),
this.intersection.observe(this.dom),this.gapIntersection=new IntersectionObserver(t=>{t.length>0&&t[t.length-1].
intersectionRatio>0&&this.onScrollChanged(document.createEvent("Event"))},{})),this.listenForScroll(),this.readSelectionRange()}onScrollChanged(e){
this.view.inputState.runHandlers("scroll",e),this.intersecting&&this.view.measure()}onScroll(e){this.intersecting&&
this.flush(this.pendingRecords().length>0),this.editContext&&this.view.requestMeasure(this.editContext.measureReq),
this.onScrollChanged(e)}onResize(){this.resizeTimeout<0&&(this.resizeTimeout=setTimeout(()=>{this.resizeTimeout=
-1,this.view.requestMeasure()},50))}onPrint(e){(e.type=="change"||!e.type)&&!e.matches||(this.view.viewState.printing=
!0,this.view.measure(),setTimeout(()=>{this.view.viewState.printing=!1,this.view.requestMeasure()},500))}updateGaps(e){
if(this.gapIntersection&&(e.length!=this.gaps.length||this.gaps.some((t,i)=>t!=e[i]))){this.gapIntersection.disconnect();
for(let t of e)this.gapIntersection.observe(t);this.gaps=e}}onSelectionChange(e){let t=this.selectionChanged;if(!this.
readSelectionRange()||this.delayedAndroidKey)return;let{view:i}=this,s=this.selectionRange;if(i.state.facet(at)?
i.root.activeElement!=this.dom:!Ii(this.dom,s))return;let r=s.anchorNode&&i.docView.tile.nearest(s.anchorNode);
if(r&&r.isWidget()&&r.widget.ignoreEvent(e)){t||(this.selectionChanged=!1);return}(M.ie&&M.ie_version<=11||M.android&&
M.chrome)&&!i.state.selection.main.empty&&s.focusNode&&Ni(s.focusNode,s.focusOffset,s.anchorNode,s.anchorOffset)?
this.flushSoon():this.flush(!1)}readSelectionRange(){let{view:e}=this,t=Ui(e.root);if(!t)return!1;let i=M.safari&&
e.root.nodeType==11&&e.root.activeElement==this.dom&&op(this.view,t)||t;if(!i||this.selectionRange.eq(i))return!1;
let s=Ii(this.dom,i);return s&&!this.selectionChanged&&e.inputState.lastFocusTime>Date.now()-200&&e.inputState.
lastTouchTime<Date.now()-300&&ed(this.dom,i)?(this.view.inputState.lastFocusTime=0,e.docView.updateSelection(),
!1):(this.selectionRange.setRange(i),s&&(this.selectionChanged=!0),!0)}setSelectionRange(e,t){this.selectionRange.
set(e.node,e.offset,t.node,t.offset),this.selectionChanged=!1}clearSelectionRange(){this.selectionRange.set(null,
0,null,0)}listenForScroll(){this.parentCheck=-1;let e=0,t=null;for(let i=this.dom;i;)if(ne(i))!t&&e<this.scrollTargets.
length&&this.scrollTargets[e]==i?e++:t||(t=this.scrollTargets.slice(0,e)),t&&t.push(i),i=i.assignedSlot||i.parentNode;else if(i.
nodeType==11)i=i.host;else break;if(e<this.scrollTargets.length&&!t&&(t=this.scrollTargets.slice(0,e)),t){for(let i of this.
scrollTargets)i.removeEventListener("scroll",this.onScroll);for(let i of this.scrollTargets=t)i.addEventListener(
"scroll",this.onScroll)}}ignore(e){if(!this.active)return e();try{return this.stop(),e()}finally{this.start(),
this.clear()}}start(){this.active||(this.observer.observe(this.dom,rp),Ar&&this.dom.addEventListener("DOMChara\
cterDataModified",this.onCharData),this.active=!0)}stop(){this.active&&(this.active=!1,this.observer.disconnect(),
Ar&&this.dom.removeEventListener("DOMCharacterDataModified",this.onCharData))}clear(){this.processRecords(),this.
queue.length=0,this.selectionChanged=!1}delayAndroidKey(e,t){var i;if(!this.delayedAndroidKey){let s=()=>{let r=this.
delayedAndroidKey;r&&(this.clearDelayedAndroidKey(),this.view.inputState.lastKeyCode=r.keyCode,this.view.inputState.
lastKeyTime=Date.now(),!this.flush()&&r.force&&hi(this.dom,r.key,r.keyCode))};this.flushingAndroidKey=this.view.
win.requestAnimationFrame(s)}(!this.delayedAndroidKey||e=="Enter")&&(this.delayedAndroidKey={key:e,keyCode:t,force:this.
lastChange<Date.now()-50||!!(!((i=this.delayedAndroidKey)===null||i===void 0)&&i.force)})}clearDelayedAndroidKey(){
this.win.cancelAnimationFrame(this.flushingAndroidKey),this.delayedAndroidKey=null,this.flushingAndroidKey=-1}flushSoon(){
this.delayedFlush<0&&(this.delayedFlush=this.view.win.requestAnimationFrame(()=>{this.delayedFlush=-1,this.flush()}))}forceFlush(){
this.delayedFlush>=0&&(this.view.win.cancelAnimationFrame(this.delayedFlush),this.delayedFlush=-1),this.flush()}pendingRecords(){
for(let e of this.observer.takeRecords())this.queue.push(e);return this.queue}processRecords(){let e=this.pendingRecords();
e.length&&(this.queue=[]);let t=-1,i=-1,s=!1;for(let r of e){let o=this.readMutation(r);o&&(o.typeOver&&(s=!0),
t==-1?{from:t,to:i}=o:(t=Math.min(o.from,t),i=Math.max(o.to,i)))}return{from:t,to:i,typeOver:s}}readChange(){let{
from:e,to:t,typeOver:i}=this.processRecords(),s=this.selectionChanged&&Ii(this.dom,this.selectionRange);if(e<0&&
!s)return null;e>-1&&(this.lastChange=Date.now()),this.view.inputState.lastFocusTime=0,this.selectionChanged=!1;
let r=new Qr(this.view,e,t,i);return this.view.docView.domChanged={newSel:r.newSel?r.newSel.main:null},r}flush(e=!0){
if(this.delayedFlush>=0||this.delayedAndroidKey)return!1;e&&this.readSelectionRange();let t=this.selectionChanged,
i=this.readChange();if(!i)return this.view.requestMeasure(),!1;let s=this.view.state,r=Nh(this.view,i);return this.
view.state==s&&(i.domChanged||t)&&this.view.update([]),r}readMutation(e){let t=this.view.docView.tile.nearest(
e.target);if(!t||t.isWidget())return null;if(t.markDirty(e.type=="attributes"),e.type=="childList"){let i=za(t,
e.previousSibling||e.target.previousSibling,-1),s=za(t,e.nextSibling||e.target.nextSibling,1);return{from:i?t.
posAfter(i):t.posAtStart,to:s?t.posBefore(s):t.posAtEnd,typeOver:!1}}else return e.type=="characterData"?{from:t.
posAtStart,to:t.posAtEnd,typeOver:e.target.nodeValue==e.oldValue}:null}setWindow(e){e!=this.win&&(this.removeWindowListeners(
this.win),this.win=e,this.addWindowListeners(this.win))}addWindowListeners(e){e.addEventListener("resize",this.
onResize),this.printQuery?this.printQuery.addEventListener?this.printQuery.addEventListener("change",this.onPrint):
this.printQuery.addListener(this.onPrint):e.addEventListener("beforeprint",this.onPrint),e.addEventListener("s\
croll",this.onScroll),e.document.addEventListener("selectionchange",this.onSelectionChange)}removeWindowListeners(e){
e.removeEventListener("scroll",this.onScroll),e.removeEventListener("resize",this.onResize),this.printQuery?this.
printQuery.removeEventListener?this.printQuery.removeEventListener("change",this.onPrint):this.printQuery.removeListener(
this.onPrint):e.removeEventListener("beforeprint",this.onPrint),e.document.removeEventListener("selectionchang\
e",this.onSelectionChange)}update(e){this.editContext&&(this.editContext.update(e),e.startState.facet(at)!=e.state.
facet(at)&&(e.view.contentDOM.editContext=e.state.facet(at)?this.editContext.editContext:null))}destroy(){var e,
t,i;this.stop(),(e=this.intersection)===null||e===void 0||e.disconnect(),(t=this.gapIntersection)===null||t===
void 0||t.disconnect(),(i=this.resizeScroll)===null||i===void 0||i.disconnect();for(let s of this.scrollTargets)
s.removeEventListener("scroll",this.onScroll);this.removeWindowListeners(this.win),clearTimeout(this.parentCheck),
clearTimeout(this.resizeTimeout),this.win.cancelAnimationFrame(this.delayedFlush),this.win.cancelAnimationFrame(
this.flushingAndroidKey),this.editContext&&(this.view.contentDOM.editContext=null,this.editContext.destroy())}};
function za(n,e,t){for(;e;){let i=Y.get(e);if(i&&i.parent==n)return i;let s=e.parentNode;e=s!=n.dom?s:t>0?e.nextSibling:
e.previousSibling}return null}function qa(n,e){let t=e.startContainer,i=e.startOffset,s=e.endContainer,r=e.endOffset,
o=n.docView.domAtPos(n.state.selection.main.anchor,1);return Ni(o.node,o.offset,s,r)&&([t,i,s,r]=[s,r,t,i]),{anchorNode:t,
anchorOffset:i,focusNode:s,focusOffset:r}}function op(n,e){if(e.getComposedRanges){let s=e.getComposedRanges(n.
root)[0];if(s)return qa(n,s)}let t=null;function i(s){s.preventDefault(),s.stopImmediatePropagation(),t=s.getTargetRanges()[0]}
return n.contentDOM.addEventListener("beforeinput",i,!0),n.dom.ownerDocument.execCommand("indent"),n.contentDOM.
removeEventListener("beforeinput",i,!0),t?qa(n,t):null}var mo=class{constructor(e){this.from=0,this.to=0,this.
pendingContextChange=null,this.handlers=Object.create(null),this.composing=null,this.resetRange(e.state);let t=this.
editContext=new window.EditContext({text:e.state.doc.sliceString(this.from,this.to),selectionStart:this.toContextPos(
Math.max(this.from,Math.min(this.to,e.state.selection.main.anchor))),selectionEnd:this.toContextPos(e.state.selection.
main.head)});this.handlers.textupdate=i=>{let s=e.state.selection.main,{anchor:r,head:o}=s,l=this.toEditorPos(
i.updateRangeStart),a=this.toEditorPos(i.updateRangeEnd);e.inputState.composing>=0&&!this.composing&&(this.composing=
{contextBase:i.updateRangeStart,editorBase:l,drifted:!1});let h=a-l>i.text.length;l==this.from&&r<this.from?l=
r:a==this.to&&r>this.to&&(a=r);let c=Fh(e.state.sliceDoc(l,a),i.text,(h?s.from:s.to)-l,h?"end":null);if(!c){let u=y.
single(this.toEditorPos(i.selectionStart),this.toEditorPos(i.selectionEnd));Jr(u,s)||e.dispatch({selection:u,userEvent:"\
select"});return}let f={from:c.from+l,to:c.toA+l,insert:F.of(i.text.slice(c.from,c.toB).split(`
`))};if((M.mac||M.android)&&f.from==o-1&&/^\. ?$/.test(i.text)&&e.contentDOM.getAttribute("autocorrect")=="off"&&
(f={from:l,to:a,insert:F.of([i.text.replace("."," ")])}),this.pendingContextChange=f,!e.state.readOnly){let u=this.
to-this.from+(f.to-f.from+f.insert.length);Io(e,f,y.single(this.toEditorPos(i.selectionStart,u),this.toEditorPos(
i.selectionEnd,u)))}this.pendingContextChange&&(this.revertPending(e.state),this.setSelection(e.state)),f.from<
f.to&&!f.insert.length&&e.inputState.composing>=0&&!/[\\p{Alphabetic}\\p{Number}_]/.test(t.text.slice(Math.max(
0,i.updateRangeStart-1),Math.min(t.text.length,i.updateRangeStart+1)))&&this.handlers.compositionend(i)},this.
handlers.characterboundsupdate=i=>{let s=[],r=null;for(let o=this.toEditorPos(i.rangeStart),l=this.toEditorPos(
i.rangeEnd);o<l;o++){let a=e.coordsForChar(o);r=a&&new DOMRect(a.left,a.top,a.right-a.left,a.bottom-a.top)||r||
new DOMRect,s.push(r)}t.updateCharacterBounds(i.rangeStart,s)},this.handlers.textformatupdate=i=>{let s=[];for(let r of i.
getTextFormats()){let o=r.underlineStyle,l=r.underlineThickness;if(!/none/i.test(o)&&!/none/i.test(l)){let a=this.
toEditorPos(r.rangeStart),h=this.toEditorPos(r.rangeEnd);if(a<h){let c=`text-decoration: underline ${/^[a-z]/.
test(o)?o+" ":o=="Dashed"?"dashed ":o=="Squiggle"?"wavy ":""}${/thin/i.test(l)?1:2}px`;s.push(P.mark({attributes:{
style:c}}).range(a,h))}}}e.dispatch({effects:Mh.of(P.set(s))})},this.handlers.compositionstart=()=>{e.inputState.
composing<0&&(e.inputState.composing=0,e.inputState.compositionFirstChange=!0)},this.handlers.compositionend=()=>{
if(e.inputState.composing=-1,e.inputState.compositionFirstChange=null,this.composing){let{drifted:i}=this.composing;
this.composing=null,i&&this.reset(e.state)}};for(let i in this.handlers)t.addEventListener(i,this.handlers[i]);
this.measureReq={read:i=>{let s=Ui(i.root);s&&s.rangeCount&&this.editContext.updateSelectionBounds(s.getRangeAt(
0).getBoundingClientRect())}}}applyEdits(e){let t=0,i=!1,s=this.pendingContextChange;return e.changes.iterChanges(
(r,o,l,a,h)=>{if(i)return;let c=h.length-(o-r);if(s&&o>=s.to)if(s.from==r&&s.to==o&&s.insert.eq(h)){s=this.pendingContextChange=
null,t+=c,this.to+=c;return}else s=null,this.revertPending(e.state);if(r+=t,o+=t,o<=this.from)this.from+=c,this.
to+=c;else if(r<this.to){if(r<this.from||o>this.to||this.to-this.from+h.length>3e4){i=!0;return}this.editContext.
updateText(this.toContextPos(r),this.toContextPos(o),h.toString()),this.to+=c}t+=c}),s&&!i&&this.revertPending(
e.state),!i}update(e){let t=this.pendingContextChange,i=e.startState.selection.main;this.composing&&(this.composing.
drifted||!e.changes.touchesRange(i.from,i.to)&&e.transactions.some(s=>!s.isUserEvent("input.type")&&s.changes.
touchesRange(this.from,this.to)))?(this.composing.drifted=!0,this.composing.editorBase=e.changes.mapPos(this.composing.
editorBase)):!this.applyEdits(e)||!this.rangeIsValid(e.state)?(this.pendingContextChange=null,this.reset(e.state)):
(e.docChanged||e.selectionSet||t)&&this.setSelection(e.state),(e.geometryChanged||e.docChanged||e.selectionSet)&&
e.view.requestMeasure(this.measureReq)}resetRange(e){let{head:t}=e.selection.main;this.from=Math.max(0,t-1e4),
this.to=Math.min(e.doc.length,t+1e4)}reset(e){this.resetRange(e),this.editContext.updateText(0,this.editContext.
text.length,e.doc.sliceString(this.from,this.to)),this.setSelection(e)}revertPending(e){let t=this.pendingContextChange;
this.pendingContextChange=null,this.editContext.updateText(this.toContextPos(t.from),this.toContextPos(t.from+
t.insert.length),e.doc.sliceString(t.from,t.to))}setSelection(e){let{main:t}=e.selection,i=this.toContextPos(Math.
max(this.from,Math.min(this.to,t.anchor))),s=this.toContextPos(t.head);(this.editContext.selectionStart!=i||this.
editContext.selectionEnd!=s)&&this.editContext.updateSelection(i,s)}rangeIsValid(e){let{head:t}=e.selection.main;
return!(this.from>0&&t-this.from<500||this.to<e.doc.length&&this.to-t<500||this.to-this.from>1e4*3)}toEditorPos(e,t=this.
to-this.from){e=Math.min(e,t);let i=this.composing;return i&&i.drifted?i.editorBase+(e-i.contextBase):e+this.from}toContextPos(e){
let t=this.composing;return t&&t.drifted?t.contextBase+(e-t.editorBase):e-this.from}destroy(){for(let e in this.
handlers)this.editContext.removeEventListener(e,this.handlers[e])}},O=class n{get state(){return this.viewState.
state}get viewport(){return this.viewState.viewport}get visibleRanges(){return this.viewState.visibleRanges}get inView(){
return this.viewState.inView}get composing(){return!!this.inputState&&this.inputState.composing>0}get compositionStarted(){
return!!this.inputState&&this.inputState.composing>=0}get root(){return this._root}get win(){return this.dom.ownerDocument.
defaultView||window}constructor(e={}){var t;this.plugins=[],this.pluginMap=new Map,this.editorAttrs={},this.contentAttrs=
{},this.bidiCache=[],this.destroyed=!1,this.updateState=2,this.measureScheduled=-1,this.measureRequests=[],this.
clearAnnouncement=-1,this.contentDOM=document.createElement("div"),this.scrollDOM=document.createElement("div"),
this.scrollDOM.tabIndex=-1,this.scrollDOM.className="cm-scroller",this.scrollDOM.appendChild(this.contentDOM),
this.announceDOM=document.createElement("div"),this.announceDOM.className="cm-announced",this.announceDOM.setAttribute(
"aria-live","polite"),this.dom=document.createElement("div"),this.dom.appendChild(this.announceDOM),this.dom.appendChild(
this.scrollDOM),e.parent&&e.parent.appendChild(this.dom);let{dispatch:i}=e;this.dispatchTransactions=e.dispatchTransactions||
i&&(s=>s.forEach(r=>i(r,this)))||(s=>this.update(s)),this.dispatch=this.dispatch.bind(this),this._root=e.root||
Zu(e.parent)||document,this.viewState=new es(this,e.state||j.create(e)),e.scrollTo&&e.scrollTo.is(Dn)&&(this.viewState.
scrollTarget=e.scrollTo.value.clip(this.viewState.state)),this.plugins=this.state.facet(si).map(s=>new Wi(s));
for(let s of this.plugins)s.update(this);this.observer=new po(this),this.inputState=new Zr(this),this.inputState.
ensureHandlers(this.plugins),this.docView=new Xn(this),this.mountStyles(),this.updateAttrs(),this.updateState=
0,this.requestMeasure(),!((t=document.fonts)===null||t===void 0)&&t.ready&&document.fonts.ready.then(()=>{this.
viewState.mustMeasureContent="refresh",this.requestMeasure()})}dispatch(...e){let t=e.length==1&&e[0]instanceof
ie?e:e.length==1&&Array.isArray(e[0])?e[0]:[this.state.update(...e)];this.dispatchTransactions(t,this)}update(e){
if(this.updateState!=0)throw new Error("Calls to EditorView.update are not allowed while an update is in progr\
ess");let t=!1,i=!1,s,r=this.state;for(let u of e){if(u.startState!=r)throw new RangeError("Trying to update s\
tate with a transaction that doesn't start from the previous state.");r=u.state}if(this.destroyed){this.viewState.
state=r;return}let o=this.hasFocus,l=0,a=null;e.some(u=>u.annotation($h))?(this.inputState.notifiedFocused=o,l=
1):o!=this.inputState.notifiedFocused&&(this.inputState.notifiedFocused=o,a=Kh(r,o),a||(l=1));let h=this.observer.
delayedAndroidKey,c=null;if(h?(this.observer.clearDelayedAndroidKey(),c=this.observer.readChange(),(c&&!this.state.
doc.eq(r.doc)||!this.state.selection.eq(r.selection))&&(c=null)):this.observer.clear(),r.facet(j.phrases)!=this.
state.facet(j.phrases))return this.setState(r);s=_n.create(this,r,e),s.flags|=l;let f=this.viewState.scrollTarget;
try{this.updateState=2;for(let u of e){if(f&&(f=f.map(u.changes)),u.scrollIntoView){let{main:d}=u.state.selection,
{x:p,y:m}=this.state.facet(n.cursorScrollMargin);f=new Fi(d.empty?d:y.cursor(d.head,d.head>d.anchor?-1:1),"nea\
rest","nearest",m,p)}for(let d of u.effects)d.is(Dn)&&(f=d.value.clip(this.state))}this.viewState.update(s,f),
this.bidiCache=ts.update(this.bidiCache,s.changes),s.empty||(this.updatePlugins(s),this.inputState.update(s)),
t=this.docView.update(s),this.state.facet(Li)!=this.styleModules&&this.mountStyles(),i=this.updateAttrs(),this.
showAnnouncements(e),this.docView.updateSelection(t,e.some(u=>u.isUserEvent("select.pointer")))}finally{this.updateState=
0}if(s.startState.facet(En)!=s.state.facet(En)&&(this.viewState.mustMeasureContent=!0),(t||i||f||this.viewState.
mustEnforceCursorAssoc||this.viewState.mustMeasureContent)&&this.requestMeasure(),t&&this.docViewUpdate(),!s.empty)
for(let u of this.state.facet(Wr))try{u(s)}catch(d){ge(this.state,d,"update listener")}(a||c)&&Promise.resolve().
then(()=>{a&&this.state==a.startState&&this.dispatch(a),c&&!Nh(this,c)&&h.force&&hi(this.contentDOM,h.key,h.keyCode)})}setState(e){
if(this.updateState!=0)throw new Error("Calls to EditorView.setState are not allowed while an update is in pro\
gress");if(this.destroyed){this.viewState.state=e;return}this.updateState=2;let t=this.hasFocus;try{for(let i of this.
plugins)i.destroy(this);this.viewState=new es(this,e),this.plugins=e.facet(si).map(i=>new Wi(i)),this.pluginMap.
clear();for(let i of this.plugins)i.update(this);this.docView.destroy(),this.docView=new Xn(this),this.inputState.
ensureHandlers(this.plugins),this.mountStyles(),this.updateAttrs(),this.bidiCache=[]}finally{this.updateState=
0}t&&this.focus(),this.requestMeasure()}updatePlugins(e){let t=e.startState.facet(si),i=e.state.facet(si);if(t!=
i){let s=[];for(let r of i){let o=t.indexOf(r);if(o<0)s.push(new Wi(r));else{let l=this.plugins[o];l.mustUpdate=
e,s.push(l)}}for(let r of this.plugins)r.mustUpdate!=e&&r.destroy(this);this.plugins=s,this.pluginMap.clear()}else
for(let s of this.plugins)s.mustUpdate=e;for(let s=0;s<this.plugins.length;s++)this.plugins[s].update(this);t!=
i&&this.inputState.ensureHandlers(this.plugins)}docViewUpdate(){for(let e of this.plugins){let t=e.value;if(t&&
t.docViewUpdate)try{t.docViewUpdate(this)}catch(i){ge(this.state,i,"doc view update listener")}}}measure(e=!0){
if(this.destroyed)return;if(this.measureScheduled>-1&&this.win.cancelAnimationFrame(this.measureScheduled),this.
observer.delayedAndroidKey){this.measureScheduled=-1,this.requestMeasure();return}this.measureScheduled=0,e&&this.
observer.forceFlush();let t=null,i=this.viewState.scrollParent,s=this.viewState.getScrollOffset(),{scrollAnchorPos:r,
scrollAnchorHeight:o,scaleY:l}=this.viewState;Math.abs(s-this.viewState.scrollOffset)>1&&(o=-1),this.viewState.
scrollAnchorHeight=-1;try{for(let a=0;;a++){if(o<0){if(hh(i||this.win))r=-1,o=this.viewState.heightMap.height/
this.viewState.scaleY;else{let p=this.viewState.scrollAnchorAt(s);r=p.from,o=p.top}l=this.viewState.scaleY}this.
updateState=1;let h=this.viewState.measure();if(!h&&!this.measureRequests.length&&this.viewState.scrollTarget==
null)break;if(a>5){console.warn(this.measureRequests.length?"Measure loop restarted more than 5 times":"Viewpo\
rt failed to stabilize");break}let c=[];h&4||([this.measureRequests,c]=[c,this.measureRequests]);let f=c.map(p=>{
try{return p.read(this)}catch(m){return ge(this.state,m),$a}}),u=_n.create(this,this.state,[]),d=!1;u.flags|=h,
t?t.flags|=h:t=u,this.updateState=2,u.empty||(this.updatePlugins(u),this.inputState.update(u),this.updateAttrs(),
d=this.docView.update(u),d&&this.docViewUpdate());for(let p=0;p<c.length;p++)if(f[p]!=$a)try{let m=c[p];m.write&&
m.write(f[p],this)}catch(m){ge(this.state,m)}if(d&&this.docView.updateSelection(!0),!u.viewportChanged&&this.measureRequests.
length==0){if(this.viewState.editorHeight)if(this.viewState.scrollTarget){this.docView.scrollIntoView(this.viewState.
scrollTarget),this.viewState.scrollTarget=null,o=-1;continue}else{let m=(r<0?this.viewState.heightMap.height:this.
viewState.lineBlockAt(r).top)/this.viewState.scaleY-o/l;if((m>1||m<-1)&&!(M.ios&&this.inputState.lastIOSMomentumScroll>
Date.now()-100)&&(i==this.scrollDOM||this.hasFocus||Math.max(this.inputState.lastWheelEvent,this.inputState.lastTouchTime)>
Date.now()-100)){s=s+m,i?r<0?i.scrollTop=i.scrollHeight:i.scrollTop+=m:this.win.scrollBy(0,m),o=-1;continue}}break}}}finally{
this.updateState=0,this.measureScheduled=-1}if(t&&!t.empty)for(let a of this.state.facet(Wr))a(t)}get themeClasses(){
return fo+" "+(this.state.facet(co)?Gh:Uh)+" "+this.state.facet(En)}updateAttrs(){let e=Ka(this,Th,{class:"cm-\
editor"+(this.hasFocus?" cm-focused ":" ")+this.themeClasses}),t={spellcheck:"false",autocorrect:"off",autocapitalize:"\
off",writingsuggestions:"false",translate:"no",contenteditable:this.state.facet(at)?"true":"false",class:"cm-c\
ontent",style:`${M.tabSize}: ${this.state.tabSize}`,role:"textbox","aria-multiline":"true"};this.state.readOnly&&
(t["aria-readonly"]="true"),Ka(this,Bo,t);let i=this.observer.ignore(()=>{let s=Sa(this.contentDOM,this.contentAttrs,
t),r=Sa(this.dom,this.editorAttrs,e);return s||r});return this.editorAttrs=e,this.contentAttrs=t,i}showAnnouncements(e){
let t=!0;for(let i of e)for(let s of i.effects)if(s.is(n.announce)){t&&(this.announceDOM.textContent="",this.win.
clearTimeout(this.clearAnnouncement),this.clearAnnouncement=this.win.setTimeout(()=>{this.announceDOM.textContent=
"\xA0"},200),t=!1);let r=this.announceDOM.appendChild(document.createElement("div"));r.textContent=s.value}}mountStyles(){
this.styleModules=this.state.facet(Li);let e=this.state.facet(n.cspNonce);Be.mount(this.root,this.styleModules.
concat(sp).reverse(),e?{nonce:e}:void 0)}readMeasured(){if(this.updateState==2)throw new Error("Reading the ed\
itor layout isn't allowed during an update");this.updateState==0&&this.measureScheduled>-1&&this.measure(!1)}requestMeasure(e){
if(this.measureScheduled<0&&(this.measureScheduled=this.win.requestAnimationFrame(()=>this.measure())),e){if(this.
measureRequests.indexOf(e)>-1)return;if(e.key!=null){for(let t=0;t<this.measureRequests.length;t++)if(this.measureRequests[t].
key===e.key){this.measureRequests[t]=e;return}}this.measureRequests.push(e)}}plugin(e){let t=this.pluginMap.get(
e);return(t===void 0||t&&t.plugin!=e)&&this.pluginMap.set(e,t=this.plugins.find(i=>i.plugin==e)||null),t&&t.update(
this).value}get documentTop(){return this.contentDOM.getBoundingClientRect().top+this.viewState.paddingTop}get documentPadding(){
return{top:this.viewState.paddingTop,bottom:this.viewState.paddingBottom}}get scaleX(){return this.viewState.scaleX}get scaleY(){
return this.viewState.scaleY}elementAtHeight(e){return this.readMeasured(),this.viewState.elementAtHeight(e)}lineBlockAtHeight(e){
return this.readMeasured(),this.viewState.lineBlockAtHeight(e)}get viewportLineBlocks(){return this.viewState.
viewportLines}lineBlockAt(e){return this.viewState.lineBlockAt(e)}get contentHeight(){return this.viewState.contentHeight}moveByChar(e,t,i){
return Cr(this,e,Da(this,e,t,i))}moveByGroup(e,t){return Cr(this,e,Da(this,e,t,i=>Od(this,e.head,i)))}visualLineSide(e,t){
return t?y.cursor(e.to,1):y.cursor(e.from,-1)}moveToLineBoundary(e,t,i=!0){return Td(this,e,t,i)}moveVertically(e,t,i){
return Cr(this,e,Dd(this,e,t,i))}domAtPos(e,t=1){return this.docView.domAtPos(e,t)}posAtDOM(e,t=0){return this.
docView.posFromDOM(e,t)}posAtCoords(e,t=!0){this.readMeasured();let i=_r(this,e,t);return i&&i.pos}posAndSideAtCoords(e,t=!0){
return this.readMeasured(),_r(this,e,t)}coordsAtPos(e,t=1){this.readMeasured();let i=this.state.doc.lineAt(e),
s=this.bidiSpans(i),r=s[Ie.find(s,e-i.from,-1,t)];return i.length&&(e==i.from&&t<0||e==i.to&&t>0)&&r.dir!=this.
textDirectionAt(i.from)&&(e==i.to?(e=i.from+r.from,t=1):(e=i.from+r.to,t=-1)),this.docView.coordsAt(e,t,r.dir==
z.RTL)}coordsForChar(e){return this.readMeasured(),this.docView.coordsForChar(e)}get defaultCharacterWidth(){return this.
viewState.heightOracle.charWidth}get defaultLineHeight(){return this.viewState.heightOracle.lineHeight}get textDirection(){
return this.viewState.defaultTextDirection}textDirectionAt(e){return!this.state.facet(Sh)||e<this.viewport.from||
e>this.viewport.to?this.textDirection:(this.readMeasured(),this.docView.textDirectionAt(e))}get lineWrapping(){
return this.viewState.heightOracle.lineWrapping}bidiSpans(e){if(e.length>lp)return mh(e.length);let t=this.textDirectionAt(
e.from),i;for(let r of this.bidiCache)if(r.from==e.from&&r.dir==t&&(r.fresh||ph(r.isolates,i=Ma(this,e))))return r.
order;i||(i=Ma(this,e));let s=ld(e.text,t,i);return this.bidiCache.push(new ts(e.from,e.to,t,i,!0,s)),s}get hasFocus(){
var e;return(this.dom.ownerDocument.hasFocus()||M.safari&&((e=this.inputState)===null||e===void 0?void 0:e.lastContextMenu)>
Date.now()-3e4)&&this.root.activeElement==this.contentDOM}focus(){this.observer.ignore(()=>{ah(this.contentDOM),
this.docView.updateSelection()})}setRoot(e){this._root!=e&&(this._root=e,this.observer.setWindow((e.nodeType==
9?e:e.ownerDocument).defaultView||window),this.mountStyles())}destroy(){this.root.activeElement==this.contentDOM&&
this.contentDOM.blur();for(let e of this.plugins)e.destroy(this);this.plugins=[],this.inputState.destroy(),this.
docView.destroy(),this.dom.remove(),this.observer.destroy(),this.win.clearTimeout(this.clearAnnouncement),this.
measureScheduled>-1&&this.win.cancelAnimationFrame(this.measureScheduled),this.destroyed=!0}static scrollIntoView(e,t={}){
var i,s,r,o;return Dn.of(new Fi(typeof e=="number"?y.cursor(e):e,(i=t.y)!==null&&i!==void 0?i:"nearest",(s=t.x)!==
null&&s!==void 0?s:"nearest",(r=t.yMargin)!==null&&r!==void 0?r:5,(o=t.xMargin)!==null&&o!==void 0?o:5))}scrollSnapshot(){
let{scrollTop:e,scrollLeft:t}=this.scrollDOM,i=this.viewState.scrollAnchorAt(e);return Dn.of(new Fi(y.cursor(i.
from),"start","start",i.top-e,t,!0))}setTabFocusMode(e){e==null?this.inputState.tabFocusMode=this.inputState.tabFocusMode<
0?0:-1:typeof e=="boolean"?this.inputState.tabFocusMode=e?0:-1:this.inputState.tabFocusMode!=0&&(this.inputState.
tabFocusMode=Date.now()+e)}static domEventHandlers(e){return J.define(()=>({}),{eventHandlers:e})}static domEventObservers(e){
return J.define(()=>({}),{eventObservers:e})}static theme(e,t){let i=Be.newName(),s=[En.of(i),Li.of(uo(`.${i}`,
e))];return t&&t.dark&&s.push(co.of(!0)),s}static baseTheme(e){return ot.lowest(Li.of(uo("."+fo,e,_h)))}static findFromDOM(e){
var t;let i=e.querySelector(".cm-content"),s=i&&Y.get(i)||Y.get(e);return((t=s?.root)===null||t===void 0?void 0:
t.view)||null}};O.styleModule=Li;O.inputHandler=kh;O.clipboardInputFilter=Po;O.clipboardOutputFilter=Ro;O.scrollHandler=
Ah;O.focusChangeEffect=vh;O.perLineTextDirection=Sh;O.exceptionSink=wh;O.updateListener=Wr;O.editable=at;O.mouseSelectionStyle=
xh;O.dragMovesSelection=yh;O.clickAddsSelectionRange=bh;O.decorations=as;O.blockWrappers=Oh;O.outerDecorations=
Lo;O.atomicRanges=_i;O.bidiIsolatedRanges=Dh;O.cursorScrollMargin=S.define({combine:n=>{let e=5,t=5;for(let i of n)
typeof i=="number"?e=t=i:{x:e,y:t}=i;return{x:e,y:t}}});O.scrollMargins=Rh;O.darkTheme=co;O.cspNonce=S.define(
{combine:n=>n.length?n[0]:""});O.contentAttributes=Bo;O.editorAttributes=Th;O.lineWrapping=O.contentAttributes.
of({class:"cm-lineWrapping"});O.announce=B.define();var lp=4096,$a={},ts=class n{constructor(e,t,i,s,r,o){this.
from=e,this.to=t,this.dir=i,this.isolates=s,this.fresh=r,this.order=o}static update(e,t){if(t.empty&&!e.some(r=>r.
fresh))return e;let i=[],s=e.length?e[e.length-1].dir:z.LTR;for(let r=Math.max(0,e.length-10);r<e.length;r++){
let o=e[r];o.dir==s&&!t.touchesRange(o.from,o.to)&&i.push(new n(t.mapPos(o.from,1),t.mapPos(o.to,-1),o.dir,o.isolates,
!1,o.order))}return i}};function Ka(n,e,t){for(let i=n.state.facet(e),s=i.length-1;s>=0;s--){let r=i[s],o=typeof r==
"function"?r(n):r;o&&To(o,t)}return t}var ap=M.mac?"mac":M.windows?"win":M.linux?"linux":"key";function hp(n,e){
let t=n.split(/-(?!$)/),i=t[t.length-1];i=="Space"&&(i=" ");let s,r,o,l;for(let a=0;a<t.length-1;++a){let h=t[a];
if(/^(cmd|meta|m)$/i.test(h))l=!0;else if(/^a(lt)?$/i.test(h))s=!0;else if(/^(c|ctrl|control)$/i.test(h))r=!0;else if(/^s(hift)?$/i.
test(h))o=!0;else if(/^mod$/i.test(h))e=="mac"?l=!0:r=!0;else throw new Error("Unrecognized modifier name: "+h)}
return s&&(i="Alt-"+i),r&&(i="Ctrl-"+i),l&&(i="Meta-"+i),o&&(i="Shift-"+i),i}function In(n,e,t){return e.altKey&&
(n="Alt-"+n),e.ctrlKey&&(n="Ctrl-"+n),e.metaKey&&(n="Meta-"+n),t!==!1&&e.shiftKey&&(n="Shift-"+n),n}var cp=ot.
default(O.domEventHandlers({keydown(n,e){return Qh(Yh(e.state),n,e,"editor")}})),cs=S.define({enables:cp}),ja=new WeakMap;
function Yh(n){let e=n.facet(cs),t=ja.get(e);return t||ja.set(e,t=up(e.reduce((i,s)=>i.concat(s),[]))),t}function Xh(n,e,t){
return Qh(Yh(n.state),e,n,t)}var mt=null,fp=4e3;function up(n,e=ap){let t=Object.create(null),i=Object.create(
null),s=(o,l)=>{let a=i[o];if(a==null)i[o]=l;else if(a!=l)throw new Error("Key binding "+o+" is used both as a\
 regular binding and as a multi-stroke prefix")},r=(o,l,a,h,c)=>{var f,u;let d=t[o]||(t[o]=Object.create(null)),
p=l.split(/ (?!$)/).map(b=>hp(b,e));for(let b=1;b<p.length;b++){let T=p.slice(0,b).join(" ");s(T,!0),d[T]||(d[T]=
{preventDefault:!0,stopPropagation:!1,run:[x=>{let D=mt={view:x,prefix:T,scope:o};return setTimeout(()=>{mt==D&&
(mt=null)},fp),!0}]})}let m=p.join(" ");s(m,!1);let g=d[m]||(d[m]={preventDefault:!1,stopPropagation:!1,run:((u=
(f=d._any)===null||f===void 0?void 0:f.run)===null||u===void 0?void 0:u.slice())||[]});a&&g.run.push(a),h&&(g.
preventDefault=!0),c&&(g.stopPropagation=!0)};for(let o of n){let l=o.scope?o.scope.split(" "):["editor"];if(o.
any)for(let h of l){let c=t[h]||(t[h]=Object.create(null));c._any||(c._any={preventDefault:!1,stopPropagation:!1,
run:[]});let{any:f}=o;for(let u in c)c[u].run.push(d=>f(d,go))}let a=o[e]||o.key;if(a)for(let h of l)r(h,a,o.run,
o.preventDefault,o.stopPropagation),o.shift&&r(h,"Shift-"+a,o.shift,o.preventDefault,o.stopPropagation)}return t}
var go=null;function Qh(n,e,t,i){go=e;let s=ya(e),r=He(s,0),o=dt(r)==s.length&&s!=" ",l="",a=!1,h=!1,c=!1;mt&&
mt.view==t&&mt.scope==i&&(l=mt.prefix+" ",Hh.indexOf(e.keyCode)<0&&(h=!0,mt=null));let f=new Set,u=g=>{if(g){for(let b of g.
run)if(!f.has(b)&&(f.add(b),b(t)))return g.stopPropagation&&(c=!0),!0;g.preventDefault&&(g.stopPropagation&&(c=
!0),h=!0)}return!1},d=n[i],p,m;return d&&(u(d[l+In(s,e,!o)])?a=!0:o&&(e.altKey||e.metaKey||e.ctrlKey)&&!(M.windows&&
e.ctrlKey&&e.altKey)&&!(M.mac&&e.altKey&&!(e.ctrlKey||e.metaKey))&&(p=lt[e.keyCode])&&p!=s?(u(d[l+In(p,e,!0)])||
e.shiftKey&&(m=ii[e.keyCode])!=s&&m!=p&&u(d[l+In(m,e,!1)]))&&(a=!0):o&&e.shiftKey&&u(d[l+In(s,e,!0)])&&(a=!0),
!a&&u(d._any)&&(a=!0)),h&&(a=!0),a&&c&&e.stopPropagation(),go=null,a}var It=class n{constructor(e,t,i,s,r){this.
className=e,this.left=t,this.top=i,this.width=s,this.height=r}draw(){let e=document.createElement("div");return e.
className=this.className,this.adjust(e),e}update(e,t){return t.className!=this.className?!1:(this.adjust(e),!0)}adjust(e){
e.style.left=this.left+"px",e.style.top=this.top+"px",this.width!=null&&(e.style.width=this.width+"px"),e.style.
height=this.height+"px"}eq(e){return this.left==e.left&&this.top==e.top&&this.width==e.width&&this.height==e.height&&
this.className==e.className}static forRange(e,t,i){if(i.empty){let s=e.coordsAtPos(i.head,i.assoc||1);if(!s)return[];
let r=Jh(e);return[new n(t,s.left-r.left,s.top-r.top,null,s.bottom-s.top)]}else return dp(e,t,i)}};function Jh(n){
let e=n.scrollDOM.getBoundingClientRect();return{left:(n.textDirection==z.LTR?e.left:e.right-n.scrollDOM.clientWidth*
n.scaleX)-n.scrollDOM.scrollLeft*n.scaleX,top:e.top-n.scrollDOM.scrollTop*n.scaleY}}function Ua(n,e,t,i){let s=n.
coordsAtPos(e,t*2);if(!s)return i;let r=n.dom.getBoundingClientRect(),o=(s.top+s.bottom)/2,l=n.posAtCoords({x:r.
left+1,y:o}),a=n.posAtCoords({x:r.right-1,y:o});return l==null||a==null?i:{from:Math.max(i.from,Math.min(l,a)),
to:Math.min(i.to,Math.max(l,a))}}function dp(n,e,t){if(t.to<=n.viewport.from||t.from>=n.viewport.to)return[];let i=Math.
max(t.from,n.viewport.from),s=Math.min(t.to,n.viewport.to),r=n.textDirection==z.LTR,o=n.contentDOM,l=o.getBoundingClientRect(),
a=Jh(n),h=o.querySelector(".cm-line"),c=h&&window.getComputedStyle(h),f=l.left+(c?parseInt(c.paddingLeft)+Math.
min(0,parseInt(c.textIndent)):0),u=l.right-(c?parseInt(c.paddingRight):0),d=Gr(n,i,1),p=Gr(n,s,-1),m=d.type==oe.
Text?d:null,g=p.type==oe.Text?p:null;if(m&&(n.lineWrapping||d.widgetLineBreaks)&&(m=Ua(n,i,1,m)),g&&(n.lineWrapping||
p.widgetLineBreaks)&&(g=Ua(n,s,-1,g)),m&&g&&m.from==g.from&&m.to==g.to)return T(x(t.from,t.to,m));{let w=m?x(t.
from,null,m):D(d,!1),v=g?x(null,t.to,g):D(p,!0),A=[];return(m||d).to<(g||p).from-(m&&g?1:0)||d.widgetLineBreaks>
1&&w.bottom+n.defaultLineHeight/2<v.top?A.push(b(f,w.bottom,u,v.top)):w.bottom<v.top&&n.elementAtHeight((w.bottom+
v.top)/2).type==oe.Text&&(w.bottom=v.top=(w.bottom+v.top)/2),T(w).concat(A).concat(T(v))}function b(w,v,A,E){return new It(
e,w-a.left,v-a.top,Math.max(0,A-w),E-v)}function T({top:w,bottom:v,horizontal:A}){let E=[];for(let N=0;N<A.length;N+=
2)E.push(b(A[N],w,A[N+1],v));return E}function x(w,v,A){let E=1e9,N=-1e9,K=[];function I(V,_,ae,ve,_e){let se=n.
coordsAtPos(V,V==A.to?-2:2),Pe=n.coordsAtPos(ae,ae==A.from?2:-2);!se||!Pe||(E=Math.min(se.top,Pe.top,E),N=Math.
max(se.bottom,Pe.bottom,N),_e==z.LTR?K.push(r&&_?f:se.left,r&&ve?u:Pe.right):K.push(!r&&ve?f:Pe.left,!r&&_?u:se.
right))}let R=w??A.from,q=v??A.to;for(let V of n.visibleRanges)if(V.to>R&&V.from<q)for(let _=Math.max(V.from,R),
ae=Math.min(V.to,q);;){let ve=n.state.doc.lineAt(_);for(let _e of n.bidiSpans(ve)){let se=_e.from+ve.from,Pe=_e.
to+ve.from;if(se>=ae)break;Pe>_&&I(Math.max(se,_),w==null&&se<=R,Math.min(Pe,ae),v==null&&Pe>=q,_e.dir)}if(_=ve.
to+1,_>=ae)break}return K.length==0&&I(R,w==null,q,v==null,n.textDirection),{top:E,bottom:N,horizontal:K}}function D(w,v){
let A=l.top+(v?w.top:w.bottom);return{top:A,bottom:A,horizontal:[]}}}function pp(n,e){return n.constructor==e.
constructor&&n.eq(e)}var bo=class{constructor(e,t){this.view=e,this.layer=t,this.drawn=[],this.scaleX=1,this.scaleY=
1,this.measureReq={read:this.measure.bind(this),write:this.draw.bind(this)},this.dom=e.scrollDOM.appendChild(document.
createElement("div")),this.dom.classList.add("cm-layer"),t.above&&this.dom.classList.add("cm-layer-above"),t.class&&
this.dom.classList.add(t.class),this.scale(),this.dom.setAttribute("aria-hidden","true"),this.setOrder(e.state),
e.requestMeasure(this.measureReq),t.mount&&t.mount(this.dom,e)}update(e){e.startState.facet(Vn)!=e.state.facet(
Vn)&&this.setOrder(e.state),(this.layer.update(e,this.dom)||e.geometryChanged)&&(this.scale(),e.view.requestMeasure(
this.measureReq))}docViewUpdate(e){this.layer.updateOnDocViewUpdate!==!1&&e.requestMeasure(this.measureReq)}setOrder(e){
let t=0,i=e.facet(Vn);for(;t<i.length&&i[t]!=this.layer;)t++;this.dom.style.zIndex=String((this.layer.above?150:
-1)-t)}measure(){return this.layer.markers(this.view)}scale(){let{scaleX:e,scaleY:t}=this.view;(e!=this.scaleX||
t!=this.scaleY)&&(this.scaleX=e,this.scaleY=t,this.dom.style.transform=`scale(${1/e}, ${1/t})`)}draw(e){if(e.length!=
this.drawn.length||e.some((t,i)=>!pp(t,this.drawn[i]))){let t=this.dom.firstChild,i=0;for(let s of e)s.update&&
t&&s.constructor&&this.drawn[i].constructor&&s.update(t,this.drawn[i])?(t=t.nextSibling,i++):this.dom.insertBefore(
s.draw(),t);for(;t;){let s=t.nextSibling;t.remove(),t=s}this.drawn=e,M.webkit&&(this.dom.style.display=this.dom.
firstChild?"":"none")}}destroy(){this.layer.destroy&&this.layer.destroy(this.dom,this.view),this.dom.remove()}},
Vn=S.define();function Zh(n){return[J.define(e=>new bo(e,n)),Vn.of(n)]}var yo=!M.ios,bi=S.define({combine(n){return ce(
n,{cursorBlinkRate:1200,drawRangeCursor:!0,iosSelectionHandles:!0},{cursorBlinkRate:(e,t)=>Math.min(e,t),drawRangeCursor:(e,t)=>e||
t})}});function ec(n={}){return[bi.of(n),mp,gp,yp,Ch.of(!0)]}function tc(n){return n.startState.facet(bi)!=n.state.facet(bi)}var mp=Zh({above:!0,markers(n){let{state:e}=n,
t=e.facet(bi),i=[];for(let s of e.selection.ranges){let r=s==e.selection.main;if(s.empty||t.drawRangeCursor&&!(r&&
M.ios&&t.iosSelectionHandles)){let o=r?"cm-cursor cm-cursor-primary":"cm-cursor cm-cursor-secondary",l=s.empty?
s:y.cursor(s.head,s.assoc);for(let a of It.forRange(n,o,l))i.push(a)}}return i},update(n,e){n.transactions.some(
i=>i.selection)&&(e.style.animationName=e.style.animationName=="cm-blink"?"cm-blink2":"cm-blink");let t=tc(n);
return t&&Ga(n.state,e),n.docChanged||n.selectionSet||t},mount(n,e){Ga(e.state,n)},class:"cm-cursorLayer"});function Ga(n,e){
e.style.animationDuration=n.facet(bi).cursorBlinkRate+"ms"}var gp=Zh({above:!1,markers(n){let e=[],{main:t,ranges:i}=n.
state.selection;for(let s of i)if(!s.empty&&(yo||s!=t))for(let r of It.forRange(n,"cm-selectionBackground",s))
e.push(r);if(M.ios&&!t.empty&&n.state.facet(bi).iosSelectionHandles){for(let s of It.forRange(n,"cm-selectionH\
andle cm-selectionHandle-start",y.cursor(t.from,1)))e.push(s);for(let s of It.forRange(n,"cm-selectionHandle c\
m-selectionHandle-end",y.cursor(t.to,1)))e.push(s)}return e},update(n,e){return n.docChanged||n.selectionSet||
n.viewportChanged||tc(n)},class:"cm-selectionLayer"}),bp=M.gecko&&M.gecko_version==153?"#ffffff01":"transparen\
t",yp=ot.highest(O.theme({".cm-line":{...yo?{"& ::selection, &::selection":{backgroundColor:`${bp} !important`}}:
{},caretColor:"transparent !important"},".cm-content":{caretColor:"transparent !important","& :focus":{caretColor:"\
initial !important",...yo?{"&::selection, & ::selection":{backgroundColor:"Highlight !important"}}:{}}}}));function _a(n,e,t,i,s){e.lastIndex=0;for(let r=n.iterRange(t,i),o=t,l;!r.next().done;o+=r.value.length)if(!r.lineBreak)
for(;l=e.exec(r.value);)s(o+l.index,l)}function xp(n,e){let t=n.visibleRanges;if(t.length==1&&t[0].from==n.viewport.
from&&t[0].to==n.viewport.to)return t;let i=[];for(let{from:s,to:r}of t)s=Math.max(n.state.doc.lineAt(s).from,
s-e),r=Math.min(n.state.doc.lineAt(r).to,r+e),i.length&&i[i.length-1].to>=s?i[i.length-1].to=r:i.push({from:s,
to:r});return i}var xo=class{constructor(e){let{regexp:t,decoration:i,decorate:s,boundary:r,maxLength:o=1e3}=e;
if(!t.global)throw new RangeError("The regular expression given to MatchDecorator should have its 'g' flag set");
if(this.regexp=t,s)this.addMatch=(l,a,h,c)=>s(c,h,h+l[0].length,l,a);else if(typeof i=="function")this.addMatch=
(l,a,h,c)=>{let f=i(l,a,h);f&&c(h,h+l[0].length,f)};else if(i)this.addMatch=(l,a,h,c)=>c(h,h+l[0].length,i);else
throw new RangeError("Either 'decorate' or 'decoration' should be provided to MatchDecorator");this.boundary=r,
this.maxLength=o}createDeco(e){let t=new ye,i=t.add.bind(t);for(let{from:s,to:r}of xp(e,this.maxLength))_a(e.state.
doc,this.regexp,s,r,(o,l)=>this.addMatch(l,e,o,i));return t.finish()}updateDeco(e,t){let i=1e9,s=-1;return e.docChanged&&
e.changes.iterChanges((r,o,l,a)=>{a>=e.view.viewport.from&&l<=e.view.viewport.to&&(i=Math.min(l,i),s=Math.max(
a,s))}),e.viewportMoved||s-i>1e3?this.createDeco(e.view):s>-1?this.updateRange(e.view,t.map(e.changes),i,s):t}updateRange(e,t,i,s){
for(let r of e.visibleRanges){let o=Math.max(r.from,i),l=Math.min(r.to,s);if(l>=o){let a=e.state.doc.lineAt(o),
h=a.to<l?e.state.doc.lineAt(l):a,c=Math.max(r.from,a.from),f=Math.min(r.to,h.to);if(this.boundary){for(;o>a.from;o--)
if(this.boundary.test(a.text[o-1-a.from])){c=o;break}for(;l<h.to;l++)if(this.boundary.test(h.text[l-h.from])){
f=l;break}}let u=[],d,p=(m,g,b)=>u.push(b.range(m,g));if(a==h)for(this.regexp.lastIndex=c-a.from;(d=this.regexp.
exec(a.text))&&d.index<f-a.from;)this.addMatch(d,e,d.index+a.from,p);else _a(e.state.doc,this.regexp,c,f,(m,g)=>this.
addMatch(g,e,m,p));t=t.update({filterFrom:c,filterTo:f,filter:(m,g)=>m<c||g>f,add:u})}}return t}},wo=/x/.unicode!=
null?"gu":"g",wp=new RegExp(`[\0-\b
-\x7F-\x9F\xAD\u061C\u200B\u200E\u200F\u2028\u2029\u202D\u202E\u2066\u2067\u2069\uFEFF\uFFF9-\uFFFC]`,wo),kp={
0:"null",7:"bell",8:"backspace",10:"newline",11:"vertical tab",13:"carriage return",27:"escape",8203:"zero wid\
th space",8204:"zero width non-joiner",8205:"zero width joiner",8206:"left-to-right mark",8207:"right-to-left \
mark",8232:"line separator",8237:"left-to-right override",8238:"right-to-left override",8294:"left-to-right is\
olate",8295:"right-to-left isolate",8297:"pop directional isolate",8233:"paragraph separator",65279:"zero widt\
h no-break space",65532:"object replacement"},Mr=null;function vp(){var n;if(Mr==null&&typeof document<"u"&&document.
body){let e=document.body.style;Mr=((n=e.tabSize)!==null&&n!==void 0?n:e.MozTabSize)!=null}return Mr||!1}var zn=S.
define({combine(n){let e=ce(n,{render:null,specialChars:wp,addSpecialChars:null});return(e.replaceTabs=!vp())&&
(e.specialChars=new RegExp("	|"+e.specialChars.source,wo)),e.addSpecialChars&&(e.specialChars=new RegExp(e.specialChars.
source+"|"+e.addSpecialChars.source,wo)),e}});function ic(n={}){return[zn.of(n),Sp()]}var Ya=null;function Sp(){
return Ya||(Ya=J.fromClass(class{constructor(n){this.view=n,this.decorations=P.none,this.decorationCache=Object.
create(null),this.decorator=this.makeDecorator(n.state.facet(zn)),this.decorations=this.decorator.createDeco(n)}makeDecorator(n){
return new xo({regexp:n.specialChars,decoration:(e,t,i)=>{let{doc:s}=t.state,r=He(e[0],0);if(r==9){let o=s.lineAt(
i),l=t.state.tabSize,a=pt(o.text,l,i-o.from);return P.replace({widget:new vo((l-a%l)*this.view.defaultCharacterWidth/
this.view.scaleX)})}return this.decorationCache[r]||(this.decorationCache[r]=P.replace({widget:new ko(n,r)}))},
boundary:n.replaceTabs?void 0:/[^]/})}update(n){let e=n.state.facet(zn);n.startState.facet(zn)!=e?(this.decorator=
this.makeDecorator(e),this.decorations=this.decorator.createDeco(n.view)):this.decorations=this.decorator.updateDeco(
n,this.decorations)}},{decorations:n=>n.decorations}))}var Cp="\u2022";function Ap(n){return n>=32?Cp:n==10?"\u2424":
String.fromCharCode(9216+n)}var ko=class extends we{constructor(e,t){super(),this.options=e,this.code=t}eq(e){
return e.code==this.code}toDOM(e){let t=Ap(this.code),i=e.state.phrase("Control character")+" "+(kp[this.code]||
"0x"+this.code.toString(16)),s=this.options.render&&this.options.render(this.code,i,t);if(s)return s;let r=document.
createElement("span");return r.textContent=t,r.title=i,r.setAttribute("aria-label",i),r.className="cm-specialC\
har",r}ignoreEvent(){return!1}},vo=class extends we{constructor(e){super(),this.width=e}eq(e){return e.width==
this.width}toDOM(){let e=document.createElement("span");return e.textContent="	",e.className="cm-tab",e.style.
width=this.width+"px",e}ignoreEvent(){return!1}};function nc(){return Tp}var Mp=P.line({class:"cm-activeLine"}),Tp=J.fromClass(class{constructor(n){this.decorations=
this.getDeco(n)}update(n){(n.docChanged||n.selectionSet)&&(this.decorations=this.getDeco(n.view))}getDeco(n){let e=-1,
t=[];for(let i of n.state.selection.ranges){let s=n.lineBlockAt(i.head);s.from>e&&(t.push(Mp.range(s.from)),e=
s.from)}return P.set(t)}},{decorations:n=>n.decorations});var Nn="-10000px",is=class{constructor(e,t,i,s){this.facet=t,this.createTooltipView=i,this.removeTooltipView=s,
this.input=e.state.facet(t),this.tooltips=this.input.filter(o=>o);let r=null;this.tooltipViews=this.tooltips.map(
o=>r=i(o,r))}update(e,t){var i;let s=e.state.facet(this.facet),r=s.filter(a=>a);if(s===this.input){for(let a of this.
tooltipViews)a.update&&a.update(e);return!1}let o=[],l=t?[]:null;for(let a=0;a<r.length;a++){let h=r[a],c=-1;if(h){
for(let f=0;f<this.tooltips.length;f++){let u=this.tooltips[f];u&&u.create==h.create&&(c=f)}if(c<0)o[a]=this.createTooltipView(
h,a?o[a-1]:null),l&&(l[a]=!!h.above);else{let f=o[a]=this.tooltipViews[c];l&&(l[a]=t[c]),f.update&&f.update(e)}}}
for(let a of this.tooltipViews)o.indexOf(a)<0&&(this.removeTooltipView(a),(i=a.destroy)===null||i===void 0||i.
call(a));return t&&(l.forEach((a,h)=>t[h]=a),t.length=l.length),this.input=s,this.tooltips=r,this.tooltipViews=
o,!0}};function sc(n){let e=n.dom.ownerDocument.documentElement,t=e.clientWidth,i=getComputedStyle(e);if(!/stable/.test(
i.scrollbarGutter||""))return{left:0,right:t};let s=e.getBoundingClientRect(),r=n.win.scrollX;return{left:Math.
max(0,s.left+r-parseFloat(i.marginLeft)),right:Math.min(t,s.right+r+parseFloat(i.marginRight))}}function Op(n){
let{left:e,right:t}=sc(n);return{top:0,left:e,right:t,bottom:n.dom.ownerDocument.documentElement.clientHeight}}
var Tr=S.define({combine:n=>{var e,t,i;return{position:M.ios?"absolute":((e=n.find(s=>s.position))===null||e===
void 0?void 0:e.position)||"fixed",parent:((t=n.find(s=>s.parent))===null||t===void 0?void 0:t.parent)||null,tooltipSpace:((i=
n.find(s=>s.tooltipSpace))===null||i===void 0?void 0:i.tooltipSpace)||Op}}}),Xa=new WeakMap,rc=J.fromClass(class{constructor(n){
this.view=n,this.above=[],this.inView=!0,this.madeAbsolute=!1,this.lastTransaction=0,this.measureTimeout=-1;let e=n.
state.facet(Tr);this.position=e.position,this.parent=e.parent,this.classes=n.themeClasses,this.createContainer(),
this.measureReq={read:this.readMeasure.bind(this),write:this.writeMeasure.bind(this),key:this},this.resizeObserver=
typeof ResizeObserver=="function"?new ResizeObserver(()=>this.measureSoon()):null,this.manager=new is(n,Yi,(t,i)=>this.
createTooltip(t,i),t=>{this.resizeObserver&&this.resizeObserver.unobserve(t.dom),t.dom.remove()}),this.above=this.
manager.tooltips.map(t=>!!t.above),this.intersectionObserver=typeof IntersectionObserver=="function"?new IntersectionObserver(
t=>{Date.now()>this.lastTransaction-50&&t.length>0&&t[t.length-1].intersectionRatio<1&&this.measureSoon()},{threshold:[
1]}):null,this.observeIntersection(),n.win.addEventListener("resize",this.measureSoon=this.measureSoon.bind(this)),
this.maybeMeasure()}createContainer(){this.parent?(this.container=document.createElement("div"),this.container.
style.position="relative",this.container.className=this.view.themeClasses,this.parent.appendChild(this.container)):
this.container=this.view.dom}observeIntersection(){if(this.intersectionObserver){this.intersectionObserver.disconnect();
for(let n of this.manager.tooltipViews)this.intersectionObserver.observe(n.dom)}}measureSoon(){this.measureTimeout<
0&&(this.measureTimeout=setTimeout(()=>{this.measureTimeout=-1,this.maybeMeasure()},50))}update(n){n.transactions.
length&&(this.lastTransaction=Date.now());let e=this.manager.update(n,this.above);e&&this.observeIntersection();
let t=e||n.geometryChanged,i=n.state.facet(Tr);if(i.position!=this.position&&!this.madeAbsolute){this.position=
i.position;for(let s of this.manager.tooltipViews)s.dom.style.position=this.position;t=!0}if(i.parent!=this.parent){
this.parent&&this.container.remove(),this.parent=i.parent,this.createContainer();for(let s of this.manager.tooltipViews)
this.container.appendChild(s.dom);t=!0}else this.parent&&this.view.themeClasses!=this.classes&&(this.classes=this.
container.className=this.view.themeClasses);t&&this.maybeMeasure()}createTooltip(n,e){let t=n.create(this.view),
i=e?e.dom:null;if(t.dom.classList.add("cm-tooltip"),n.arrow&&!t.dom.querySelector(".cm-tooltip > .cm-tooltip-a\
rrow")){let s=document.createElement("div");s.className="cm-tooltip-arrow",t.dom.appendChild(s)}return t.dom.style.
position=this.position,t.dom.style.top=Nn,t.dom.style.left="0px",this.container.insertBefore(t.dom,i),t.mount&&
t.mount(this.view),this.resizeObserver&&this.resizeObserver.observe(t.dom),t}destroy(){var n,e,t;this.view.win.
removeEventListener("resize",this.measureSoon);for(let i of this.manager.tooltipViews)i.dom.remove(),(n=i.destroy)===
null||n===void 0||n.call(i);this.parent&&this.container.remove(),(e=this.resizeObserver)===null||e===void 0||e.
disconnect(),(t=this.intersectionObserver)===null||t===void 0||t.disconnect(),clearTimeout(this.measureTimeout)}readMeasure(){
let n=1,e=1,t=!1,i=0;if(this.position=="fixed"&&this.manager.tooltipViews.length){let{dom:o}=this.manager.tooltipViews[0];
if(M.safari){let l=o.getBoundingClientRect();t=Math.abs(l.top+1e4)>1||Math.abs(l.left)>1}else t=!!o.offsetParent&&
o.offsetParent!=this.container.ownerDocument.body}if(t||this.position=="absolute")if(this.parent){let o=this.parent.
getBoundingClientRect();o.width&&o.height&&(n=o.width/this.parent.offsetWidth,e=o.height/this.parent.offsetHeight)}else
({scaleX:n,scaleY:e}=this.view.viewState);else i=sc(this.view).left;let s=this.view.scrollDOM.getBoundingClientRect(),
r=Eo(this.view);return{visible:{left:s.left+r.left,top:s.top+r.top,right:s.right-r.right,bottom:s.bottom-r.bottom},
parent:this.parent?this.container.getBoundingClientRect():this.view.dom.getBoundingClientRect(),pos:this.manager.
tooltips.map((o,l)=>{let a=this.manager.tooltipViews[l];return a.getCoords?a.getCoords(o.pos):this.view.coordsAtPos(
o.pos)}),size:this.manager.tooltipViews.map(({dom:o})=>o.getBoundingClientRect()),space:this.view.state.facet(
Tr).tooltipSpace(this.view),scaleX:n,scaleY:e,makeAbsolute:t,fixedLeft:i}}writeMeasure(n){var e;if(n.makeAbsolute){
this.madeAbsolute=!0,this.position="absolute";for(let l of this.manager.tooltipViews)l.dom.style.position="abs\
olute"}let{visible:t,space:i,scaleX:s,scaleY:r}=n,o=[];for(let l=0;l<this.manager.tooltips.length;l++){let a=this.
manager.tooltips[l],h=this.manager.tooltipViews[l],{dom:c}=h,f=n.pos[l],u=n.size[l];if(!f||a.clip!==!1&&(f.bottom<=
Math.max(t.top,i.top)||f.top>=Math.min(t.bottom,i.bottom)||f.right<Math.max(t.left,i.left)-.1||f.left>Math.min(
t.right,i.right)+.1)){c.style.top=Nn;continue}let d=a.arrow?h.dom.querySelector(".cm-tooltip-arrow"):null,p=d?
7:0,m=u.right-u.left,g=(e=Xa.get(h))!==null&&e!==void 0?e:u.bottom-u.top,b=h.offset||Pp,T=this.view.textDirection==
z.LTR,x=u.width>i.right-i.left?T?i.left:i.right-u.width:T?Math.max(i.left,Math.min(f.left-(d?14:0)+b.x,i.right-
m)):Math.min(Math.max(i.left,f.left-m+(d?14:0)-b.x),i.right-m),D=this.above[l];!a.strictSide&&(D?f.top-g-p-b.y<
i.top:f.bottom+g+p+b.y>i.bottom)&&D==i.bottom-f.bottom>f.top-i.top&&(D=this.above[l]=!D);let w=(D?f.top-i.top:
i.bottom-f.bottom)-p;if(w<g&&h.resize!==!1){if(w<this.view.defaultLineHeight){c.style.top=Nn;continue}Xa.set(h,
g),c.style.height=(g=w)/r+"px"}else c.style.height&&(c.style.height="");let v=D?f.top-g-p-b.y:f.bottom+p+b.y,A=x+
m;if(h.overlap!==!0)for(let E of o)E.left<A&&E.right>x&&E.top<v+g&&E.bottom>v&&(v=D?E.top-g-2-p:E.bottom+p+2);
if(this.position=="absolute"?(c.style.top=(v-n.parent.top)/r+"px",Qa(c,(x-n.parent.left)/s)):(c.style.top=v/r+
"px",Qa(c,(x-n.fixedLeft)/s)),d){let E=f.left+(T?b.x:-b.x)-(x+14-7);d.style.left=E/s+"px"}h.overlap!==!0&&o.push(
{left:x,top:v,right:A,bottom:v+g}),c.classList.toggle("cm-tooltip-above",D),c.classList.toggle("cm-tooltip-bel\
ow",!D),h.positioned&&h.positioned(n.space)}}maybeMeasure(){if(this.manager.tooltips.length&&(this.view.inView&&
this.view.requestMeasure(this.measureReq),this.inView!=this.view.inView&&(this.inView=this.view.inView,!this.inView)))
for(let n of this.manager.tooltipViews)n.dom.style.top=Nn}},{eventObservers:{scroll(){this.maybeMeasure()}}});
function Qa(n,e){let t=parseInt(n.style.left,10);(isNaN(t)||Math.abs(e-t)>1)&&(n.style.left=e+"px")}var Dp=O.baseTheme(
{".cm-tooltip":{zIndex:500,boxSizing:"border-box"},"&light .cm-tooltip":{border:"1px solid #bbb",backgroundColor:"\
#f5f5f5"},"&light .cm-tooltip-section:not(:first-child)":{borderTop:"1px solid #bbb"},"&dark .cm-tooltip":{backgroundColor:"\
#333338",color:"white"},".cm-tooltip-arrow":{height:"7px",width:"14px",position:"absolute",zIndex:-1,overflow:"\
hidden","&:before, &:after":{content:"''",position:"absolute",width:0,height:0,borderLeft:"7px solid transpare\
nt",borderRight:"7px solid transparent"},".cm-tooltip-above &":{bottom:"-7px","&:before":{borderTop:"7px solid\
 #bbb"},"&:after":{borderTop:"7px solid #f5f5f5",bottom:"1px"}},".cm-tooltip-below &":{top:"-7px","&:before":{
borderBottom:"7px solid #bbb"},"&:after":{borderBottom:"7px solid #f5f5f5",top:"1px"}}},"&dark .cm-tooltip .cm\
-tooltip-arrow":{"&:before":{borderTopColor:"#333338",borderBottomColor:"#333338"},"&:after":{borderTopColor:"\
transparent",borderBottomColor:"transparent"}}}),Pp={x:0,y:0},Yi=S.define({enables:[rc,Dp]}),ns=S.define({combine:n=>n.
reduce((e,t)=>e.concat(t),[])}),ss=class n{static create(e){return new n(e)}constructor(e){this.view=e,this.mounted=
!1,this.dom=document.createElement("div"),this.dom.classList.add("cm-tooltip-hover"),this.manager=new is(e,ns,
(t,i)=>this.createHostedView(t,i),t=>t.dom.remove())}createHostedView(e,t){let i=e.create(this.view);return i.
dom.classList.add("cm-tooltip-section"),this.dom.insertBefore(i.dom,t?t.dom.nextSibling:this.dom.firstChild),this.
mounted&&i.mount&&i.mount(this.view),i}mount(e){for(let t of this.manager.tooltipViews)t.mount&&t.mount(e);this.
mounted=!0}positioned(e){for(let t of this.manager.tooltipViews)t.positioned&&t.positioned(e)}update(e){this.manager.
update(e)}destroy(){var e;for(let t of this.manager.tooltipViews)(e=t.destroy)===null||e===void 0||e.call(t)}passProp(e){
let t;for(let i of this.manager.tooltipViews){let s=i[e];if(s!==void 0){if(t===void 0)t=s;else if(t!==s)return}}
return t}get offset(){return this.passProp("offset")}get getCoords(){return this.passProp("getCoords")}get overlap(){
return this.passProp("overlap")}get resize(){return this.passProp("resize")}},Rp=Yi.compute([ns],n=>{let e=n.facet(
ns);return e.length===0?null:{pos:Math.min(...e.map(t=>t.pos)),end:Math.max(...e.map(t=>{var i;return(i=t.end)!==
null&&i!==void 0?i:t.pos})),create:ss.create,above:e[0].above,arrow:e.some(t=>t.arrow)}}),oc=S.define(),So=class{constructor(e,t,i,s,r,o){
this.view=e,this.source=t,this.field=i,this.locked=s,this.setHover=r,this.hoverTime=o,this.hoverTimeout=-1,this.
restartTimeout=-1,this.pending=null,this.lastMove={x:0,y:0,target:e.dom,time:0},this.checkHover=this.checkHover.
bind(this),e.dom.addEventListener("mouseleave",this.mouseleave=this.mouseleave.bind(this)),e.dom.addEventListener(
"mousemove",this.mousemove=this.mousemove.bind(this))}update(e){this.pending&&(this.pending=null,clearTimeout(
this.restartTimeout),this.restartTimeout=setTimeout(()=>this.startHover(),20))}get active(){return this.view.state.
field(this.field)}checkHover(){if(this.hoverTimeout=-1,this.active.length)return;let e=Date.now()-this.lastMove.
time;e<this.hoverTime?this.hoverTimeout=setTimeout(this.checkHover,this.hoverTime-e):this.startHover()}startHover(){
clearTimeout(this.restartTimeout);let{view:e,lastMove:t}=this,i=e.docView.tile.nearest(t.target);if(!i)return;
let s,r=1;if(i.isWidget())s=i.posAtStart;else{if(s=e.posAtCoords(t),s==null)return;let o=e.coordsAtPos(s);if(!o||
t.y<o.top||t.y>o.bottom||t.x<o.left-e.defaultCharacterWidth||t.x>o.right+e.defaultCharacterWidth)return;let l=e.
bidiSpans(e.state.doc.lineAt(s)).find(h=>h.from<=s&&h.to>=s),a=l&&l.dir==z.RTL?-1:1;r=t.x<o.left?-a:a}this.activateHover(
e,s,r)}activateHover(e,t,i,s){let r=this.source(e,t,i),o=l=>{if(l&&!(Array.isArray(l)&&!l.length)){let a=Array.
isArray(l)?l:[l];s&&this.locked.set(a,s),e.dispatch({effects:this.setHover.of(a)})}};if(r&&"then"in r){let l=this.
pending={pos:t};r.then(a=>{this.pending==l&&(this.pending=null,o(a))},a=>ge(e.state,a,"hover tooltip"))}else o(
r)}get tooltip(){let e=this.view.plugin(rc),t=e?e.manager.tooltips.findIndex(i=>i.create==ss.create):-1;return t>
-1?e.manager.tooltipViews[t]:null}mousemove(e){var t,i;this.lastMove={x:e.clientX,y:e.clientY,target:e.target,
time:Date.now()},this.hoverTimeout<0&&(this.hoverTimeout=setTimeout(this.checkHover,this.hoverTime));let{active:s,
tooltip:r}=this;if(s.length&&!this.locked.has(s)&&r&&!Bp(r.dom,e)||this.pending){let{pos:o}=s[0]||this.pending,
l=(i=(t=s[0])===null||t===void 0?void 0:t.end)!==null&&i!==void 0?i:o;(o==l?this.view.posAtCoords(this.lastMove)!=
o:!Lp(this.view,o,l,e.clientX,e.clientY))&&(this.view.dispatch({effects:this.setHover.of([])}),this.pending=null)}}mouseleave(e){
clearTimeout(this.hoverTimeout),this.hoverTimeout=-1;let{active:t}=this;if(t.length&&!this.locked.has(t)){let{
tooltip:i}=this;i&&i.dom.contains(e.relatedTarget)?this.watchTooltipLeave(i.dom):this.view.dispatch({effects:this.
setHover.of([])})}}watchTooltipLeave(e){let t=i=>{e.removeEventListener("mouseleave",t);let{active:s}=this;s.length&&
!this.locked.has(s)&&!this.view.dom.contains(i.relatedTarget)&&this.view.dispatch({effects:this.setHover.of([])})};
e.addEventListener("mouseleave",t)}destroy(){clearTimeout(this.hoverTimeout),clearTimeout(this.restartTimeout),
this.view.dom.removeEventListener("mouseleave",this.mouseleave),this.view.dom.removeEventListener("mousemove",
this.mousemove)}},Fn=4;function Bp(n,e){let{left:t,right:i,top:s,bottom:r}=n.getBoundingClientRect(),o;if(o=n.
querySelector(".cm-tooltip-arrow")){let l=o.getBoundingClientRect();s=Math.min(l.top,s),r=Math.max(l.bottom,r)}
return e.clientX>=t-Fn&&e.clientX<=i+Fn&&e.clientY>=s-Fn&&e.clientY<=r+Fn}function Lp(n,e,t,i,s,r){let o=n.scrollDOM.
getBoundingClientRect(),l=n.documentTop+n.documentPadding.top+n.contentHeight;if(o.left>i||o.right<i||o.top>s||
Math.min(o.bottom,l)<s)return!1;let a=n.posAtCoords({x:i,y:s},!1);return a>=e&&a<=t}function lc(n,e={}){let t=B.
define(),i=new WeakMap,s=Q.define({create(){return[]},update(o,l){let a=i.get(o);if(o.length&&(e.hideOnChange&&
(l.docChanged||l.selection)?o=[]:a&&a(l)?o=[]:e.hideOn&&(o=o.filter(h=>!e.hideOn(l,h)))),l.docChanged&&o.length){
let h=[];for(let c of o){let f=l.changes.mapPos(c.pos,-1,re.TrackDel);if(f!=null){let u=Object.assign(Object.create(
null),c);u.pos=f,u.end!=null&&(u.end=l.changes.mapPos(u.end)),h.push(u)}}o=h}for(let h of l.effects)h.is(t)&&(o=
h.value,a=void 0),(h.is(Ep)&&!h.value||h.value==s)&&(o=[]);return o.length&&a&&i.set(o,a),o},provide:o=>ns.from(
o)}),r=J.define(o=>new So(o,n,s,i,t,e.hoverTime||300));return{active:s,extension:[s,r,oc.of(r),Rp]}}function ac(n,e,t,i={}){
var s;let r=n.state.facet(oc).map(o=>n.plugin(o)).filter(o=>!!o);if(i.tooltip&&i.tooltip.active){let o=r.find(
l=>l.field==i.tooltip.active);o&&(r=[o])}for(let o of r)o.activateHover(n,e,t,(s=i.until)!==null&&s!==void 0?s:
(()=>!1))}var Ep=B.define();var Ja=S.define({combine(n){let e,t;for(let i of n)e=e||i.topContainer,t=t||i.bottomContainer;return{topContainer:e,
bottomContainer:t}}});function yi(n,e){let t=n.plugin(hc),i=t?t.specs.indexOf(e):-1;return i>-1?t.panels[i]:null}var hc=J.fromClass(
class{constructor(n){this.input=n.state.facet(Wt),this.specs=this.input.filter(t=>t),this.panels=this.specs.map(
t=>t(n));let e=n.state.facet(Ja);this.top=new oi(n,!0,e.topContainer),this.bottom=new oi(n,!1,e.bottomContainer),
this.top.sync(this.panels.filter(t=>t.top)),this.bottom.sync(this.panels.filter(t=>!t.top));for(let t of this.
panels)t.dom.classList.add("cm-panel"),t.mount&&t.mount()}update(n){let e=n.state.facet(Ja);this.top.container!=
e.topContainer&&(this.top.sync([]),this.top=new oi(n.view,!0,e.topContainer)),this.bottom.container!=e.bottomContainer&&
(this.bottom.sync([]),this.bottom=new oi(n.view,!1,e.bottomContainer)),this.top.syncClasses(),this.bottom.syncClasses();
let t=n.state.facet(Wt);if(t!=this.input){let i=t.filter(a=>a),s=[],r=[],o=[],l=[];for(let a of i){let h=this.
specs.indexOf(a),c;h<0?(c=a(n.view),l.push(c)):(c=this.panels[h],c.update&&c.update(n)),s.push(c),(c.top?r:o).
push(c)}this.specs=i,this.panels=s,this.top.sync(r),this.bottom.sync(o);for(let a of l)a.dom.classList.add("cm\
-panel"),a.mount&&a.mount()}else for(let i of this.panels)i.update&&i.update(n)}destroy(){this.top.sync([]),this.
bottom.sync([])}},{provide:n=>O.scrollMargins.of(e=>{let t=e.plugin(n);return t&&{top:t.top.scrollMargin(),bottom:t.
bottom.scrollMargin()}})}),oi=class{constructor(e,t,i){this.view=e,this.top=t,this.container=i,this.dom=void 0,
this.classes="",this.panels=[],this.syncClasses()}sync(e){for(let t of this.panels)t.destroy&&e.indexOf(t)<0&&
t.destroy();this.panels=e,this.syncDOM()}syncDOM(){if(this.panels.length==0){this.dom&&(this.dom.remove(),this.
dom=void 0);return}if(!this.dom){this.dom=document.createElement("div"),this.dom.className=this.top?"cm-panels\
 cm-panels-top":"cm-panels cm-panels-bottom";let t=this.container||this.view.dom;t.insertBefore(this.dom,this.
top?t.firstChild:null)}let e=this.dom.firstChild;for(let t of this.panels)if(t.dom.parentNode==this.dom){for(;e!=
t.dom;)e=Za(e);e=e.nextSibling}else this.dom.insertBefore(t.dom,e);for(;e;)e=Za(e)}scrollMargin(){return!this.
dom||this.container?0:Math.max(0,this.top?this.dom.getBoundingClientRect().bottom-Math.max(0,this.view.scrollDOM.
getBoundingClientRect().top):Math.min(innerHeight,this.view.scrollDOM.getBoundingClientRect().bottom)-this.dom.
getBoundingClientRect().top)}syncClasses(){if(!(!this.container||this.classes==this.view.themeClasses)){for(let e of this.
classes.split(" "))e&&this.container.classList.remove(e);for(let e of(this.classes=this.view.themeClasses).split(
" "))e&&this.container.classList.add(e)}}};function Za(n){let e=n.nextSibling;return n.remove(),e}var Wt=S.define(
{enables:hc});function cc(n,e){let t,i=new Promise(o=>t=o),s=o=>Ip(o,e,t);n.state.field(qn,!1)?n.dispatch({effects:uc.
of(s)}):n.dispatch({effects:B.appendConfig.of(qn.init(()=>[s]))});let r=dc.of(s);return{close:r,result:i.then(
o=>((n.win.queueMicrotask||(a=>n.win.setTimeout(a,10)))(()=>{n.state.field(qn).indexOf(s)>-1&&n.dispatch({effects:r})}),
o))}}function fc(n,e){let t=n.state.field(qn,!1)||[];for(let i of t){let s=yi(n,i);if(s&&s.dom.classList.contains(
e))return s}return null}var qn=Q.define({create(){return[]},update(n,e){for(let t of e.effects)t.is(uc)?n=[t.value].
concat(n):t.is(dc)&&(n=n.filter(i=>i!=t.value));return n},provide:n=>Wt.computeN([n],e=>e.field(n))}),uc=B.define(),
dc=B.define();function Ip(n,e,t){let i=e.content?e.content(n,()=>l(null)):null;if(!i){if(i=H("form"),e.input){
let a=H("input",e.input);/^(text|password|number|email|tel|url)$/.test(a.type)&&a.classList.add("cm-textfield"),
a.name||(a.name="input"),i.appendChild(H("label",(e.label||"")+": ",a))}else i.appendChild(document.createTextNode(
e.label||""));i.appendChild(document.createTextNode(" ")),i.appendChild(H("button",{class:"cm-button",type:"su\
bmit"},e.submitLabel||"OK"))}let s=i.nodeName=="FORM"?[i]:i.querySelectorAll("form");for(let a=0;a<s.length;a++){
let h=s[a];h.addEventListener("keydown",c=>{c.keyCode==27?(c.preventDefault(),l(null)):c.keyCode==13&&(c.preventDefault(),
l(h))}),h.addEventListener("submit",c=>{c.preventDefault(),l(h)})}let r=H("div",i,H("button",{onclick:()=>l(null),
"aria-label":n.state.phrase("close"),class:"cm-dialog-close",type:"button"},["\xD7"]));e.class&&(r.className=e.
class),r.classList.add("cm-dialog");let o=typeof e.focus=="string"?i.querySelector(e.focus):e.focus?i.querySelector(
"input")||i.querySelector("button"):null;function l(a){r.contains(r.ownerDocument.activeElement)&&n.focus(),t(
a)}return{dom:r,top:e.top,mount:()=>{o&&("select"in o?o.select():"focus"in o&&o.focus())},destroy:()=>t(null)}}
var ke=class extends Re{compare(e){return this==e||this.constructor==e.constructor&&this.eq(e)}eq(e){return!1}destroy(e){}};
ke.prototype.elementClass="";ke.prototype.toDOM=void 0;ke.prototype.mapMode=re.TrackBefore;ke.prototype.startSide=
ke.prototype.endSide=-1;ke.prototype.point=!0;var $n=S.define(),Np=S.define(),Fp={class:"",renderEmptyElements:!1,
elementStyle:"",markers:()=>W.empty,lineMarker:()=>null,widgetMarker:()=>null,lineMarkerChange:null,initialSpacer:null,
updateSpacer:null,domEventHandlers:{},side:"before"},qi=S.define();function fs(n){return[pc(),qi.of({...Fp,...n})]}
var Co=S.define({combine:n=>n.some(e=>e)});function pc(n){let e=[Wp];return n&&n.fixed===!1&&e.push(Co.of(!0)),
e}var Wp=J.fromClass(class{constructor(n){this.view=n,this.domAfter=null,this.prevViewport=n.viewport,this.dom=
document.createElement("div"),this.dom.className="cm-gutters cm-gutters-before",this.dom.setAttribute("aria-hi\
dden","true"),this.dom.style.minHeight=this.view.contentHeight/this.view.scaleY+"px",this.gutters=n.state.facet(
qi).map(e=>new rs(n,e)),this.fixed=!n.state.facet(Co);for(let e of this.gutters)e.config.side=="after"?this.getDOMAfter().
appendChild(e.dom):this.dom.appendChild(e.dom);this.fixed&&(this.dom.style.position="sticky"),this.syncGutters(
!1),n.scrollDOM.insertBefore(this.dom,n.contentDOM)}getDOMAfter(){return this.domAfter||(this.domAfter=document.
createElement("div"),this.domAfter.className="cm-gutters cm-gutters-after",this.domAfter.setAttribute("aria-hi\
dden","true"),this.domAfter.style.minHeight=this.view.contentHeight/this.view.scaleY+"px",this.domAfter.style.
position=this.fixed?"sticky":"",this.view.scrollDOM.appendChild(this.domAfter)),this.domAfter}update(n){if(this.
updateGutters(n)){let e=this.prevViewport,t=n.view.viewport,i=Math.min(e.to,t.to)-Math.max(e.from,t.from);this.
syncGutters(i<(t.to-t.from)*.8)}if(n.geometryChanged){let e=this.view.contentHeight/this.view.scaleY+"px";this.
dom.style.minHeight=e,this.domAfter&&(this.domAfter.style.minHeight=e)}this.view.state.facet(Co)!=!this.fixed&&
(this.fixed=!this.fixed,this.dom.style.position=this.fixed?"sticky":"",this.domAfter&&(this.domAfter.style.position=
this.fixed?"sticky":"")),this.prevViewport=n.view.viewport}syncGutters(n){let e=this.dom.nextSibling;n&&(this.
dom.remove(),this.domAfter&&this.domAfter.remove());let t=W.iter(this.view.state.facet($n),this.view.viewport.
from),i=[],s=this.gutters.map(r=>new Mo(r,this.view.viewport,-this.view.documentPadding.top));for(let r of this.
view.viewportLineBlocks)if(i.length&&(i=[]),Array.isArray(r.type)){let o=!0;for(let l of r.type)if(l.type==oe.
Text&&o){Ao(t,i,l.from);for(let a of s)a.line(this.view,l,i);o=!1}else if(l.widget)for(let a of s)a.widget(this.
view,l)}else if(r.type==oe.Text){Ao(t,i,r.from);for(let o of s)o.line(this.view,r,i)}else if(r.widget)for(let o of s)
o.widget(this.view,r);for(let r of s)r.finish();n&&(this.view.scrollDOM.insertBefore(this.dom,e),this.domAfter&&
this.view.scrollDOM.appendChild(this.domAfter))}updateGutters(n){let e=n.startState.facet(qi),t=n.state.facet(
qi),i=n.docChanged||n.heightChanged||n.viewportChanged||!W.eq(n.startState.facet($n),n.state.facet($n),n.view.
viewport.from,n.view.viewport.to);if(e==t)for(let s of this.gutters)s.update(n)&&(i=!0);else{i=!0;let s=[];for(let r of t){
let o=e.indexOf(r);o<0?s.push(new rs(this.view,r)):(this.gutters[o].update(n),s.push(this.gutters[o]))}for(let r of this.
gutters)r.dom.remove(),s.indexOf(r)<0&&r.destroy();for(let r of s)r.config.side=="after"?this.getDOMAfter().appendChild(
r.dom):this.dom.appendChild(r.dom);this.gutters=s}return i}destroy(){for(let n of this.gutters)n.destroy();this.
dom.remove(),this.domAfter&&this.domAfter.remove()}},{provide:n=>O.scrollMargins.of(e=>{let t=e.plugin(n);if(!t||
t.gutters.length==0||!t.fixed)return null;let i=t.dom.offsetWidth*e.scaleX,s=t.domAfter?t.domAfter.offsetWidth*
e.scaleX:0;return e.textDirection==z.LTR?{left:i,right:s}:{right:i,left:s}})});function eh(n){return Array.isArray(
n)?n:[n]}function Ao(n,e,t){for(;n.value&&n.from<=t;)n.from==t&&e.push(n.value),n.next()}var Mo=class{constructor(e,t,i){
this.gutter=e,this.height=i,this.i=0,this.cursor=W.iter(e.markers,t.from)}addElement(e,t,i){let{gutter:s}=this,
r=(t.top-this.height)/e.scaleY,o=t.height/e.scaleY;if(this.i==s.elements.length){let l=new os(e,o,r,i);s.elements.
push(l),s.dom.appendChild(l.dom)}else s.elements[this.i].update(e,o,r,i);this.height=t.bottom,this.i++}line(e,t,i){
let s=[];Ao(this.cursor,s,t.from),i.length&&(s=s.concat(i));let r=this.gutter.config.lineMarker(e,t,s);r&&s.unshift(
r);let o=this.gutter;s.length==0&&!o.config.renderEmptyElements||this.addElement(e,t,s)}widget(e,t){let i=this.
gutter.config.widgetMarker(e,t.widget,t),s=i?[i]:null;for(let r of e.state.facet(Np)){let o=r(e,t.widget,t);o&&
(s||(s=[])).push(o)}s&&this.addElement(e,t,s)}finish(){let e=this.gutter;for(;e.elements.length>this.i;){let t=e.
elements.pop();e.dom.removeChild(t.dom),t.destroy()}}},rs=class{constructor(e,t){this.view=e,this.config=t,this.
elements=[],this.spacer=null,this.dom=document.createElement("div"),this.dom.className="cm-gutter"+(this.config.
class?" "+this.config.class:"");for(let i in t.domEventHandlers)this.dom.addEventListener(i,s=>{let r=s.target,
o;if(r!=this.dom&&this.dom.contains(r)){for(;r.parentNode!=this.dom;)r=r.parentNode;let a=r.getBoundingClientRect();
o=(a.top+a.bottom)/2}else o=s.clientY;let l=e.lineBlockAtHeight(o-e.documentTop);t.domEventHandlers[i](e,l,s)&&
s.preventDefault()});this.markers=eh(t.markers(e)),t.initialSpacer&&(this.spacer=new os(e,0,0,[t.initialSpacer(
e)]),this.dom.appendChild(this.spacer.dom),this.spacer.dom.style.cssText+="visibility: hidden; pointer-events:\
 none")}update(e){let t=this.markers;if(this.markers=eh(this.config.markers(e.view)),this.spacer&&this.config.
updateSpacer){let s=this.config.updateSpacer(this.spacer.markers[0],e);s!=this.spacer.markers[0]&&this.spacer.
update(e.view,0,0,[s])}let i=e.view.viewport;return!W.eq(this.markers,t,i.from,i.to)||(this.config.lineMarkerChange?
this.config.lineMarkerChange(e):!1)}destroy(){for(let e of this.elements)e.destroy()}},os=class{constructor(e,t,i,s){
this.height=-1,this.above=0,this.markers=[],this.dom=document.createElement("div"),this.dom.className="cm-gutt\
erElement",this.update(e,t,i,s)}update(e,t,i,s){this.height!=t&&(this.height=t,this.dom.style.height=t+"px"),this.
above!=i&&(this.dom.style.marginTop=(this.above=i)?i+"px":""),Hp(this.markers,s)||this.setMarkers(e,s)}setMarkers(e,t){
let i="cm-gutterElement",s=this.dom.firstChild;for(let r=0,o=0;;){let l=o,a=r<t.length?t[r++]:null,h=!1;if(a){
let c=a.elementClass;c&&(i+=" "+c);for(let f=o;f<this.markers.length;f++)if(this.markers[f].compare(a)){l=f,h=
!0;break}}else l=this.markers.length;for(;o<l;){let c=this.markers[o++];if(c.toDOM){c.destroy(s);let f=s.nextSibling;
s.remove(),s=f}}if(!a)break;a.toDOM&&(h?s=s.nextSibling:this.dom.insertBefore(a.toDOM(e),s)),h&&o++}this.dom.className=
i,this.markers=t}destroy(){this.setMarkers(null,[])}};function Hp(n,e){if(n.length!=e.length)return!1;for(let t=0;t<
n.length;t++)if(!n[t].compare(e[t]))return!1;return!0}var Vp=S.define(),zp=S.define(),li=S.define({combine(n){
return ce(n,{formatNumber:String,domEventHandlers:{}},{domEventHandlers(e,t){let i=Object.assign({},e);for(let s in t){
let r=i[s],o=t[s];i[s]=r?(l,a,h)=>r(l,a,h)||o(l,a,h):o}return i}})}}),$i=class extends ke{constructor(e){super(),
this.number=e}eq(e){return this.number==e.number}toDOM(){return document.createTextNode(this.number)}};function Or(n,e){
return n.state.facet(li).formatNumber(e,n.state)}var qp=qi.compute([li],n=>({class:"cm-lineNumbers",renderEmptyElements:!1,
markers(e){return e.state.facet(Vp)},lineMarker(e,t,i){return i.some(s=>s.toDOM)?null:new $i(Or(e,e.state.doc.
lineAt(t.from).number))},widgetMarker:(e,t,i)=>{for(let s of e.state.facet(zp)){let r=s(e,t,i);if(r)return r}return null},
lineMarkerChange:e=>e.startState.facet(li)!=e.state.facet(li),initialSpacer(e){return new $i(Or(e,th(e.state.doc.
lines)))},updateSpacer(e,t){let i=Or(t.view,th(t.view.state.doc.lines));return i==e.number?e:new $i(i)},domEventHandlers:n.
facet(li).domEventHandlers,side:"before"}));function mc(n={}){return[li.of(n),pc(),qp]}function th(n){let e=9;
for(;e<n;)e=e*10+9;return e}var $p=new class extends ke{constructor(){super(...arguments),this.elementClass="c\
m-activeLineGutter"}},Kp=$n.compute(["selection"],n=>{let e=[],t=-1;for(let i of n.selection.ranges){let s=n.doc.
lineAt(i.head).from;s>t&&(t=s,e.push($p.range(s)))}return W.of(e)});function gc(){return Kp}var jp=0,Xi=class{constructor(e,t){this.from=e,this.to=t}},L=class{constructor(e={}){this.id=jp++,this.perNode=
!!e.perNode,this.deserialize=e.deserialize||(()=>{throw new Error("This node type doesn't define a deserialize\
 function")}),this.combine=e.combine||null}add(e){if(this.perNode)throw new RangeError("Can't add per-node pro\
ps to node types");return typeof e!="function"&&(e=fe.match(e)),t=>{let i=e(t);return i===void 0?null:[this,i]}}};
L.closedBy=new L({deserialize:n=>n.split(" ")});L.openedBy=new L({deserialize:n=>n.split(" ")});L.group=new L(
{deserialize:n=>n.split(" ")});L.isolate=new L({deserialize:n=>{if(n&&n!="rtl"&&n!="ltr"&&n!="auto")throw new RangeError(
"Invalid value for isolate: "+n);return n||"auto"}});L.contextHash=new L({perNode:!0});L.lookAhead=new L({perNode:!0});
L.mounted=new L({perNode:!0});var Ht=class{constructor(e,t,i,s=!1){this.tree=e,this.overlay=t,this.parser=i,this.
bracketed=s}static get(e){return e&&e.props&&e.props[L.mounted.id]}},Up=Object.create(null),fe=class n{constructor(e,t,i,s=0){
this.name=e,this.props=t,this.id=i,this.flags=s}static define(e){let t=e.props&&e.props.length?Object.create(null):
Up,i=(e.top?1:0)|(e.skipped?2:0)|(e.error?4:0)|(e.name==null?8:0),s=new n(e.name||"",t,e.id,i);if(e.props){for(let r of e.
props)if(Array.isArray(r)||(r=r(s)),r){if(r[0].perNode)throw new RangeError("Can't store a per-node prop on a \
node type");t[r[0].id]=r[1]}}return s}prop(e){return this.props[e.id]}get isTop(){return(this.flags&1)>0}get isSkipped(){
return(this.flags&2)>0}get isError(){return(this.flags&4)>0}get isAnonymous(){return(this.flags&8)>0}is(e){if(typeof e==
"string"){if(this.name==e)return!0;let t=this.prop(L.group);return t?t.indexOf(e)>-1:!1}return this.id==e}static match(e){
let t=Object.create(null);for(let i in e)for(let s of i.split(" "))t[s]=e[i];return i=>{for(let s=i.prop(L.group),
r=-1;r<(s?s.length:0);r++){let o=t[r<0?i.name:s[r]];if(o)return o}}}};fe.none=new fe("",Object.create(null),0,
8);var Qi=class n{constructor(e){this.types=e;for(let t=0;t<e.length;t++)if(e[t].id!=t)throw new RangeError("N\
ode type ids should correspond to array positions when creating a node set")}extend(...e){let t=[];for(let i of this.
types){let s=null;for(let r of e){let o=r(i);if(o){s||(s=Object.assign({},i.props));let l=o[1],a=o[0];a.combine&&
a.id in s&&(l=a.combine(s[a.id],l)),s[a.id]=l}}t.push(s?new fe(i.name,s,i.id,i.flags):i)}return new n(t)}},us=new WeakMap,
bc=new WeakMap,X;(function(n){n[n.ExcludeBuffers=1]="ExcludeBuffers",n[n.IncludeAnonymous=2]="IncludeAnonymous",
n[n.IgnoreMounts=4]="IgnoreMounts",n[n.IgnoreOverlays=8]="IgnoreOverlays",n[n.EnterBracketed=16]="EnterBracket\
ed"})(X||(X={}));var ee=class n{constructor(e,t,i,s,r){if(this.type=e,this.children=t,this.positions=i,this.length=
s,this.props=null,r&&r.length){this.props=Object.create(null);for(let[o,l]of r)this.props[typeof o=="number"?o:
o.id]=l}}toString(){let e=Ht.get(this);if(e&&!e.overlay)return e.tree.toString();let t="";for(let i of this.children){
let s=i.toString();s&&(t&&(t+=","),t+=s)}return this.type.name?(/\W/.test(this.type.name)&&!this.type.isError?
JSON.stringify(this.type.name):this.type.name)+(t.length?"("+t+")":""):t}cursor(e=0){return new en(this.topNode,
e)}cursorAt(e,t=0,i=0){let s=us.get(this)||this.topNode,r=new en(s);return r.moveTo(e,t),us.set(this,r._tree),
r}get topNode(){return new Je(this,0,0,null)}resolve(e,t=0){let i=Ji(us.get(this)||this.topNode,e,t,!1);return us.
set(this,i),i}resolveInner(e,t=0){let i=Ji(bc.get(this)||this.topNode,e,t,!0);return bc.set(this,i),i}resolveStack(e,t=0){
return Gp(this,e,t)}iterate(e){let{enter:t,leave:i,from:s=0,to:r=this.length}=e,o=e.mode||0,l=(o&X.IncludeAnonymous)>
0;for(let a=this.cursor(o|X.IncludeAnonymous);;){let h=!1;if(a.from<=r&&a.to>=s&&(!l&&a.type.isAnonymous||t(a)!==
!1)){if(a.firstChild())continue;h=!0}for(;h&&i&&(l||!a.type.isAnonymous)&&i(a),!a.nextSibling();){if(!a.parent())
return;h=!0}}}prop(e){return e.perNode?this.props?this.props[e.id]:void 0:this.type.prop(e)}get propValues(){let e=[];
if(this.props)for(let t in this.props)e.push([+t,this.props[t]]);return e}balance(e={}){return this.children.length<=
8?this:qo(fe.none,this.children,this.positions,0,this.children.length,0,this.length,(t,i,s)=>new n(this.type,t,
i,s,this.propValues),e.makeTree||((t,i,s)=>new n(fe.none,t,i,s)))}static build(e){return _p(e)}};ee.empty=new ee(
fe.none,[],[],0);var No=class n{constructor(e,t){this.buffer=e,this.index=t}get id(){return this.buffer[this.index-
4]}get start(){return this.buffer[this.index-3]}get end(){return this.buffer[this.index-2]}get size(){return this.
buffer[this.index-1]}get pos(){return this.index}next(){this.index-=4}fork(){return new n(this.buffer,this.index)}},
xt=class n{constructor(e,t,i){this.buffer=e,this.length=t,this.set=i}get type(){return fe.none}toString(){let e=[];
for(let t=0;t<this.buffer.length;)e.push(this.childString(t)),t=this.buffer[t+3];return e.join(",")}childString(e){
let t=this.buffer[e],i=this.buffer[e+3],s=this.set.types[t],r=s.name;if(/\W/.test(r)&&!s.isError&&(r=JSON.stringify(
r)),e+=4,i==e)return r;let o=[];for(;e<i;)o.push(this.childString(e)),e=this.buffer[e+3];return r+"("+o.join("\
,")+")"}findChild(e,t,i,s,r){let{buffer:o}=this,l=-1;for(let a=e;a!=t&&!(wc(r,s,o[a+1],o[a+2])&&(l=a,i>0));a=o[a+
3]);return l}slice(e,t,i){let s=this.buffer,r=new Uint16Array(t-e),o=0;for(let l=e,a=0;l<t;){r[a++]=s[l++],r[a++]=
s[l++]-i;let h=r[a++]=s[l++]-i;r[a++]=s[l++]-e,o=Math.max(o,h)}return new n(r,o,this.set)}};function wc(n,e,t,i){
switch(n){case-2:return t<e;case-1:return i>=e&&t<e;case 0:return t<e&&i>e;case 1:return t<=e&&i>e;case 2:return i>
e;case 4:return!0}}function Ji(n,e,t,i){for(var s;n.from==n.to||(t<1?n.from>=e:n.from>e)||(t>-1?n.to<=e:n.to<e);){
let o=!i&&n instanceof Je&&n.index<0?null:n.parent;if(!o)return n;n=o}let r=i?0:X.IgnoreOverlays;if(i)for(let o=n,
l=o.parent;l;o=l,l=o.parent)o instanceof Je&&o.index<0&&((s=l.enter(e,t,r))===null||s===void 0?void 0:s.from)!=
o.from&&(n=l);for(;;){let o=n.enter(e,t,r);if(!o)return n;n=o}}var ps=class{cursor(e=0){return new en(this,e)}getChild(e,t=null,i=null){
let s=yc(this,e,t,i);return s.length?s[0]:null}getChildren(e,t=null,i=null){return yc(this,e,t,i)}resolve(e,t=0){
return Ji(this,e,t,!1)}resolveInner(e,t=0){return Ji(this,e,t,!0)}matchContext(e){return Fo(this.parent,e)}enterUnfinishedNodesBefore(e){
let t=this.childBefore(e),i=this;for(;t;){let s=t.lastChild;if(!s||s.to!=t.to)break;s.type.isError&&s.from==s.
to?(i=t,t=s.prevSibling):t=s}return i}get node(){return this}get next(){return this.parent}},Je=class n extends ps{constructor(e,t,i,s){
super(),this._tree=e,this.from=t,this.index=i,this._parent=s}get type(){return this._tree.type}get name(){return this.
_tree.type.name}get to(){return this.from+this._tree.length}nextChild(e,t,i,s,r=0){for(let o=this;;){for(let{children:l,
positions:a}=o._tree,h=t>0?l.length:-1;e!=h;e+=t){let c=l[e],f=a[e]+o.from,u;if(!(!(r&X.EnterBracketed&&c instanceof
ee&&(u=Ht.get(c))&&!u.overlay&&u.bracketed&&i>=f&&i<=f+c.length)&&!wc(s,i,f,f+c.length))){if(c instanceof xt){
if(r&X.ExcludeBuffers)continue;let d=c.findChild(0,c.buffer.length,t,i-f,s);if(d>-1)return new Zi(new Wo(o,c,e,
f),null,d)}else if(r&X.IncludeAnonymous||!c.type.isAnonymous||zo(c)){let d;if(!(r&X.IgnoreMounts)&&(d=Ht.get(c))&&
!d.overlay)return new n(d.tree,f,e,o);let p=new n(c,f,e,o);return r&X.IncludeAnonymous||!p.type.isAnonymous?p:
p.nextChild(t<0?c.children.length-1:0,t,i,s,r)}}}if(r&X.IncludeAnonymous||!o.type.isAnonymous||(o.index>=0?e=o.
index+t:e=t<0?-1:o._parent._tree.children.length,o=o._parent,!o))return null}}get firstChild(){return this.nextChild(
0,1,0,4)}get lastChild(){return this.nextChild(this._tree.children.length-1,-1,0,4)}childAfter(e){return this.
nextChild(0,1,e,2)}childBefore(e){return this.nextChild(this._tree.children.length-1,-1,e,-2)}prop(e){return this.
_tree.prop(e)}enter(e,t,i=0){let s;if(!(i&X.IgnoreOverlays)&&(s=Ht.get(this._tree))&&s.overlay){let r=e-this.from,
o=i&X.EnterBracketed&&s.bracketed;for(let{from:l,to:a}of s.overlay)if((t>0||o?l<=r:l<r)&&(t<0||o?a>=r:a>r))return new n(
s.tree,s.overlay[0].from+this.from,-1,this)}return this.nextChild(0,1,e,t,i)}nextSignificantParent(){let e=this;
for(;e.type.isAnonymous&&e._parent;)e=e._parent;return e}get parent(){return this._parent?this._parent.nextSignificantParent():
null}get nextSibling(){return this._parent&&this.index>=0?this._parent.nextChild(this.index+1,1,0,4):null}get prevSibling(){
return this._parent&&this.index>=0?this._parent.nextChild(this.index-1,-1,0,4):null}get tree(){return this._tree}toTree(){
return this._tree}toString(){return this._tree.toString()}};function yc(n,e,t,i){let s=n.cursor(),r=[];if(!s.firstChild())
return r;if(t!=null){for(let o=!1;!o;)if(o=s.type.is(t),!s.nextSibling())return r}for(;;){if(i!=null&&s.type.is(
i))return r;if(s.type.is(e)&&r.push(s.node),!s.nextSibling())return i==null?r:[]}}function Fo(n,e,t=e.length-1){
for(let i=n;t>=0;i=i.parent){if(!i)return!1;if(!i.type.isAnonymous){if(e[t]&&e[t]!=i.name)return!1;t--}}return!0}
var Wo=class{constructor(e,t,i,s){this.parent=e,this.buffer=t,this.index=i,this.start=s}},Zi=class n extends ps{get name(){
return this.type.name}get from(){return this.context.start+this.context.buffer.buffer[this.index+1]}get to(){return this.
context.start+this.context.buffer.buffer[this.index+2]}constructor(e,t,i){super(),this.context=e,this._parent=
t,this.index=i,this.type=e.buffer.set.types[e.buffer.buffer[i]]}child(e,t,i){let{buffer:s}=this.context,r=s.findChild(
this.index+4,s.buffer[this.index+3],e,t-this.context.start,i);return r<0?null:new n(this.context,this,r)}get firstChild(){
return this.child(1,0,4)}get lastChild(){return this.child(-1,0,4)}childAfter(e){return this.child(1,e,2)}childBefore(e){
return this.child(-1,e,-2)}prop(e){return this.type.prop(e)}enter(e,t,i=0){if(i&X.ExcludeBuffers)return null;let{
buffer:s}=this.context,r=s.findChild(this.index+4,s.buffer[this.index+3],t>0?1:-1,e-this.context.start,t);return r<
0?null:new n(this.context,this,r)}get parent(){return this._parent||this.context.parent.nextSignificantParent()}externalSibling(e){
return this._parent?null:this.context.parent.nextChild(this.context.index+e,e,0,4)}get nextSibling(){let{buffer:e}=this.
context,t=e.buffer[this.index+3];return t<(this._parent?e.buffer[this._parent.index+3]:e.buffer.length)?new n(
this.context,this._parent,t):this.externalSibling(1)}get prevSibling(){let{buffer:e}=this.context,t=this._parent?
this._parent.index+4:0;return this.index==t?this.externalSibling(-1):new n(this.context,this._parent,e.findChild(
t,this.index,-1,0,4))}get tree(){return null}toTree(){let e=[],t=[],{buffer:i}=this.context,s=this.index+4,r=i.
buffer[this.index+3];if(r>s){let o=i.buffer[this.index+1];e.push(i.slice(s,r,o)),t.push(0)}return new ee(this.
type,e,t,this.to-this.from)}toString(){return this.context.buffer.childString(this.index)}};function kc(n){if(!n.
length)return null;let e=0,t=n[0];for(let r=1;r<n.length;r++){let o=n[r];(o.from>t.from||o.to<t.to)&&(t=o,e=r)}
let i=t instanceof Je&&t.index<0?null:t.parent,s=n.slice();return i?s[e]=i:s.splice(e,1),new Ho(s,t)}var Ho=class{constructor(e,t){
this.heads=e,this.node=t}get next(){return kc(this.heads)}};function Gp(n,e,t){let i=n.resolveInner(e,t),s=null;
for(let r=i instanceof Je?i:i.context.parent;r;r=r.parent)if(r.index<0){let o=r.parent;(s||(s=[i])).push(o.resolve(
e,t)),r=o}else{let o=Ht.get(r.tree);if(o&&o.overlay&&o.overlay[0].from<=e&&o.overlay[o.overlay.length-1].to>=e){
let l=new Je(o.tree,o.overlay[0].from+r.from,-1,r);(s||(s=[i])).push(Ji(l,e,t,!1))}}return s?kc(s):i}var en=class{get name(){
return this.type.name}constructor(e,t=0){if(this.buffer=null,this.stack=[],this.index=0,this.bufferNode=null,this.
mode=t&~X.EnterBracketed,e instanceof Je)this.yieldNode(e);else{this._tree=e.context.parent,this.buffer=e.context;
for(let i=e._parent;i;i=i._parent)this.stack.unshift(i.index);this.bufferNode=e,this.yieldBuf(e.index)}}yieldNode(e){
return e?(this._tree=e,this.type=e.type,this.from=e.from,this.to=e.to,!0):!1}yieldBuf(e,t){this.index=e;let{start:i,
buffer:s}=this.buffer;return this.type=t||s.set.types[s.buffer[e]],this.from=i+s.buffer[e+1],this.to=i+s.buffer[e+
2],!0}yield(e){return e?e instanceof Je?(this.buffer=null,this.yieldNode(e)):(this.buffer=e.context,this.yieldBuf(
e.index,e.type)):!1}toString(){return this.buffer?this.buffer.buffer.childString(this.index):this._tree.toString()}enterChild(e,t,i){
if(!this.buffer)return this.yield(this._tree.nextChild(e<0?this._tree._tree.children.length-1:0,e,t,i,this.mode));
let{buffer:s}=this.buffer,r=s.findChild(this.index+4,s.buffer[this.index+3],e,t-this.buffer.start,i);return r<
0?!1:(this.stack.push(this.index),this.yieldBuf(r))}firstChild(){return this.enterChild(1,0,4)}lastChild(){return this.
enterChild(-1,0,4)}childAfter(e){return this.enterChild(1,e,2)}childBefore(e){return this.enterChild(-1,e,-2)}enter(e,t,i=this.
mode){return this.buffer?i&X.ExcludeBuffers?!1:this.enterChild(1,e,t):this.yield(this._tree.enter(e,t,i))}parent(){
if(!this.buffer)return this.yieldNode(this.mode&X.IncludeAnonymous?this._tree._parent:this._tree.parent);if(this.
stack.length)return this.yieldBuf(this.stack.pop());let e=this.mode&X.IncludeAnonymous?this.buffer.parent:this.
buffer.parent.nextSignificantParent();return this.buffer=null,this.yieldNode(e)}sibling(e){if(!this.buffer)return this.
_tree._parent?this.yield(this._tree.index<0?null:this._tree._parent.nextChild(this._tree.index+e,e,0,4,this.mode)):
!1;let{buffer:t}=this.buffer,i=this.stack.length-1;if(e<0){let s=i<0?0:this.stack[i]+4;if(this.index!=s)return this.
yieldBuf(t.findChild(s,this.index,-1,0,4))}else{let s=t.buffer[this.index+3];if(s<(i<0?t.buffer.length:t.buffer[this.
stack[i]+3]))return this.yieldBuf(s)}return i<0?this.yield(this.buffer.parent.nextChild(this.buffer.index+e,e,
0,4,this.mode)):!1}nextSibling(){return this.sibling(1)}prevSibling(){return this.sibling(-1)}atLastNode(e){let t,
i,{buffer:s}=this;if(s){if(e>0){if(this.index<s.buffer.buffer.length)return!1}else for(let r=0;r<this.index;r++)
if(s.buffer.buffer[r+3]<this.index)return!1;({index:t,parent:i}=s)}else({index:t,_parent:i}=this._tree);for(;i;{
index:t,_parent:i}=i)if(t>-1)for(let r=t+e,o=e<0?-1:i._tree.children.length;r!=o;r+=e){let l=i._tree.children[r];
if(this.mode&X.IncludeAnonymous||l instanceof xt||!l.type.isAnonymous||zo(l))return!1}return!0}move(e,t){if(t&&
this.enterChild(e,0,4))return!0;for(;;){if(this.sibling(e))return!0;if(this.atLastNode(e)||!this.parent())return!1}}next(e=!0){
return this.move(1,e)}prev(e=!0){return this.move(-1,e)}moveTo(e,t=0){for(;(this.from==this.to||(t<1?this.from>=
e:this.from>e)||(t>-1?this.to<=e:this.to<e))&&this.parent(););for(;this.enterChild(1,e,t););return this}get node(){
if(!this.buffer)return this._tree;let e=this.bufferNode,t=null,i=0;if(e&&e.context==this.buffer)e:for(let s=this.
index,r=this.stack.length;r>=0;){for(let o=e;o;o=o._parent)if(o.index==s){if(s==this.index)return o;t=o,i=r+1;
break e}s=this.stack[--r]}for(let s=i;s<this.stack.length;s++)t=new Zi(this.buffer,t,this.stack[s]);return this.
bufferNode=new Zi(this.buffer,t,this.index)}get tree(){return this.buffer?null:this._tree._tree}iterate(e,t){for(let i=0;;){
let s=!1;if(this.type.isAnonymous||e(this)!==!1){if(this.firstChild()){i++;continue}this.type.isAnonymous||(s=
!0)}for(;;){if(s&&t&&t(this),s=this.type.isAnonymous,!i)return;if(this.nextSibling())break;this.parent(),i--,s=
!0}}}matchContext(e){if(!this.buffer)return Fo(this.node.parent,e);let{buffer:t}=this.buffer,{types:i}=t.set;for(let s=e.
length-1,r=this.stack.length-1;s>=0;r--){if(r<0)return Fo(this._tree,e,s);let o=i[t.buffer[this.stack[r]]];if(!o.
isAnonymous){if(e[s]&&e[s]!=o.name)return!1;s--}}return!0}};function zo(n){return n.children.some(e=>e instanceof
xt||!e.type.isAnonymous||zo(e))}function _p(n){var e;let{buffer:t,nodeSet:i,maxBufferLength:s=1024,reused:r=[],
minRepeatType:o=i.types.length}=n,l=Array.isArray(t)?new No(t,t.length):t,a=i.types,h=0,c=0;function f(w,v,A,E,N,K){
let{id:I,start:R,end:q,size:V}=l,_=c,ae=h;if(V<0)if(l.next(),V==-1){let nt=r[I];A.push(nt),E.push(R-w);return}else if(V==
-3){h=I;return}else if(V==-4){c=I;return}else throw new RangeError(`Unrecognized record size: ${V}`);let ve=a[I],
_e,se,Pe=R-w;if(q-R<=s&&(se=g(l.pos-v,N))){let nt=new Uint16Array(se.size-se.skip),de=l.pos-se.size,We=nt.length;
for(;l.pos>de;)We=b(se.start,nt,We);_e=new xt(nt,q-se.start,i),Pe=se.start-w}else{let nt=l.pos-V;l.next();let de=[],
We=[],Ye=I>=o?I:-1,st=0,Xt=q,Ti=_;for(;l.pos>nt;)Ye>=0&&l.id==Ye&&l.size>=0?(l.end<=Xt-s&&(p(de,We,R,st,l.end,
Xt,Ye,Ti,ae),st=de.length,Xt=l.end,Ti=c),l.next()):K>2500?u(R,nt,de,We):(Ye>=0&&l.size==-1&&r[l.id].type==i.types[Ye]&&
(st<de.length&&p(de,We,R,st,l.end,Xt,Ye,Ti,ae),st=de.length+1,Xt=l.start,Ti=c),f(R,nt,de,We,Ye,K+1));if(Ye>=0&&
st>0&&st<de.length&&p(de,We,R,st,R,Xt,Ye,Ti,ae),de.reverse(),We.reverse(),Ye>-1&&st>0){let $l=d(ve,ae);_e=qo(ve,
de,We,0,de.length,0,q-R,$l,$l)}else _e=m(ve,de,We,q-R,_-q,ae)}A.push(_e),E.push(Pe)}function u(w,v,A,E){let N=[],
K=0,I=-1;for(;l.pos>v;){let{id:R,start:q,end:V,size:_}=l;if(_>4)l.next();else{if(I>-1&&q<I)break;I<0&&(I=V-s),
N.push(R,q,V),K++,l.next()}}if(K){let R=new Uint16Array(K*4),q=N[N.length-2];for(let V=N.length-3,_=0;V>=0;V-=
3)R[_++]=N[V],R[_++]=N[V+1]-q,R[_++]=N[V+2]-q,R[_++]=_;A.push(new xt(R,N[2]-q,i)),E.push(q-w)}}function d(w,v){
return(A,E,N)=>{let K=0,I=A.length-1,R,q;if(I>=0&&(R=A[I])instanceof ee){if(!I&&R.type==w&&R.length==N)return R;
(q=R.prop(L.lookAhead))&&(K=E[I]+R.length+q-N)}return m(w,A,E,N,K,v)}}function p(w,v,A,E,N,K,I,R,q){let V=[],_=[];
for(;w.length>E;)V.push(w.pop()),_.push(v.pop()+A-N);w.push(m(i.types[I],V,_,K-N,R-K,q)),v.push(N-A)}function m(w,v,A,E,N,K,I){
if(K){let R=[L.contextHash,K];I=I?[R].concat(I):[R]}if(N>25){let R=[L.lookAhead,N];I=I?[R].concat(I):[R]}return new ee(
w,v,A,E,I)}function g(w,v){let A=l.fork(),E=0,N=0,K=0,I=A.end-s,R={size:0,start:0,skip:0};e:for(let q=A.pos-w;A.
pos>q;){let V=A.size;if(A.id==v&&V>=0){R.size=E,R.start=N,R.skip=K,K+=4,E+=4,A.next();continue}let _=A.pos-V;if(V<
0||_<q||A.start<I)break;let ae=A.id>=o?4:0,ve=A.start;for(A.next();A.pos>_;){if(A.size<0)if(A.size==-3||A.size==
-4)ae+=4;else break e;else A.id>=o&&(ae+=4);A.next()}N=ve,E+=V,K+=ae}return(v<0||E==w)&&(R.size=E,R.start=N,R.
skip=K),R.size>4?R:void 0}function b(w,v,A){let{id:E,start:N,end:K,size:I}=l;if(l.next(),I>=0&&E<o){let R=A;if(I>
4){let q=l.pos-(I-4);for(;l.pos>q;)A=b(w,v,A)}v[--A]=R,v[--A]=K-w,v[--A]=N-w,v[--A]=E}else I==-3?h=E:I==-4&&(c=
E);return A}let T=[],x=[];for(;l.pos>0;)f(n.start||0,n.bufferStart||0,T,x,-1,0);let D=(e=n.length)!==null&&e!==
void 0?e:T.length?x[0]+T[0].length:0;return new ee(a[n.topID],T.reverse(),x.reverse(),D)}var xc=new WeakMap;function ds(n,e){
if(!n.isAnonymous||e instanceof xt||e.type!=n)return 1;let t=xc.get(e);if(t==null){t=1;for(let i of e.children){
if(i.type!=n||!(i instanceof ee)){t=1;break}t+=ds(n,i)}xc.set(e,t)}return t}function qo(n,e,t,i,s,r,o,l,a){let h=0;
for(let p=i;p<s;p++)h+=ds(n,e[p]);let c=Math.ceil(h*1.5/8),f=[],u=[];function d(p,m,g,b,T){for(let x=g;x<b;){let D=x,
w=m[x],v=ds(n,p[x]);for(x++;x<b;x++){let A=ds(n,p[x]);if(v+A>=c)break;v+=A}if(x==D+1){if(v>c){let A=p[D];d(A.children,
A.positions,0,A.children.length,m[D]+T);continue}f.push(p[D])}else{let A=m[x-1]+p[x-1].length-w;f.push(qo(n,p,
m,D,x,w,A,null,a))}u.push(w+T-r)}}return d(e,t,i,s,0),(l||a)(f,u,o)}var Vt=class n{constructor(e,t,i,s,r=!1,o=!1){this.from=e,this.to=t,this.tree=i,this.offset=s,this.open=(r?1:0)|
(o?2:0)}get openStart(){return(this.open&1)>0}get openEnd(){return(this.open&2)>0}static addTree(e,t=[],i=!1){
let s=[new n(0,e.length,e,0,!1,i)];for(let r of t)r.to>e.length&&s.push(r);return s}static applyChanges(e,t,i=128){
if(!t.length)return e;let s=[],r=1,o=e.length?e[0]:null;for(let l=0,a=0,h=0;;l++){let c=l<t.length?t[l]:null,f=c?
c.fromA:1e9;if(f-a>=i)for(;o&&o.from<f;){let u=o;if(a>=u.from||f<=u.to||h){let d=Math.max(u.from,a)-h,p=Math.min(
u.to,f)-h;u=d>=p?null:new n(d,p,u.tree,u.offset+h,l>0,!!c)}if(u&&s.push(u),o.to>f)break;o=r<e.length?e[r++]:null}
if(!c)break;a=c.toA,h=c.toA-c.toB}return s}},xi=class{startParse(e,t,i){return typeof e=="string"&&(e=new Vo(e)),
i=i?i.length?i.map(s=>new Xi(s.from,s.to)):[new Xi(0,0)]:[new Xi(0,e.length)],this.createParse(e,t||[],i)}parse(e,t,i){
let s=this.startParse(e,t,i);for(;;){let r=s.advance();if(r)return r}}},Vo=class{constructor(e){this.string=e}get length(){
return this.string.length}chunk(e){return this.string.slice(e)}get lineChunks(){return!1}read(e,t){return this.
string.slice(e,t)}};var ub=new L({perNode:!0});var Yp=0,$e=class n{constructor(e,t,i,s){this.name=e,this.set=t,this.base=i,this.modified=s,this.id=Yp++}toString(){
let{name:e}=this;for(let t of this.modified)t.name&&(e=`${t.name}(${e})`);return e}static define(e,t){let i=typeof e==
"string"?e:"?";if(e instanceof n&&(t=e),t?.base)throw new Error("Can not derive from a modified tag");let s=new n(
i,[],null,[]);if(s.set.push(s),t)for(let r of t.set)s.set.push(r);return s}static defineModifier(e){let t=new ys(
e);return i=>i.modified.indexOf(t)>-1?i:ys.get(i.base||i,i.modified.concat(t).sort((s,r)=>s.id-r.id))}},Xp=0,ys=class n{constructor(e){
this.name=e,this.instances=[],this.id=Xp++}static get(e,t){if(!t.length)return e;let i=t[0].instances.find(l=>l.
base==e&&Qp(t,l.modified));if(i)return i;let s=[],r=new $e(e.name,s,e,t);for(let l of t)l.instances.push(r);let o=Jp(
t);for(let l of e.set)if(!l.modified.length)for(let a of o)s.push(n.get(l,a));return r}};function Qp(n,e){return n.
length==e.length&&n.every((t,i)=>t==e[i])}function Jp(n){let e=[[]];for(let t=0;t<n.length;t++)for(let i=0,s=e.
length;i<s;i++)e.push(e[i].concat(n[t]));return e.sort((t,i)=>i.length-t.length)}function xs(n){let e=Object.create(
null);for(let t in n){let i=n[t];Array.isArray(i)||(i=[i]);for(let s of t.split(" "))if(s){let r=[],o=2,l=s;for(let f=0;;){
if(l=="..."&&f>0&&f+3==s.length){o=1;break}let u=/^"(?:[^"\\]|\\.)*?"|[^\/!]+/.exec(l);if(!u)throw new RangeError(
"Invalid path: "+s);if(r.push(u[0]=="*"?"":u[0][0]=='"'?JSON.parse(u[0]):u[0]),f+=u[0].length,f==s.length)break;
let d=s[f++];if(f==s.length&&d=="!"){o=0;break}if(d!="/")throw new RangeError("Invalid path: "+s);l=s.slice(f)}
let a=r.length-1,h=r[a];if(!h)throw new RangeError("Invalid path: "+s);let c=new qt(i,o,a>0?r.slice(0,a):null);
e[h]=c.sort(e[h])}}return Cc.add(e)}var Cc=new L({combine(n,e){let t,i,s;for(;n||e;){if(!n||e&&n.depth<=e.depth?
(s=e,e=e.next):(s=n,n=n.next),t&&t.mode==s.mode&&!s.context&&!t.context)continue;let r=new qt(s.tags,s.mode,s.
context);t?t.next=r:i=r,t=r}return i}}),qt=class{constructor(e,t,i,s){this.tags=e,this.mode=t,this.context=i,this.
next=s}get opaque(){return this.mode==0}get inherit(){return this.mode==1}sort(e){return!e||e.depth<this.depth?
(this.next=e,this):(e.next=this.sort(e.next),e)}get depth(){return this.context?this.context.length:0}};qt.empty=
new qt([],2,null);function Uo(n,e){let t=Object.create(null);for(let r of n)if(!Array.isArray(r.tag))t[r.tag.id]=
r.class;else for(let o of r.tag)t[o.id]=r.class;let{scope:i,all:s=null}=e||{};return{style:r=>{let o=s;for(let l of r)
for(let a of l.set){let h=t[a.id];if(h){o=o?o+" "+h:h;break}}return o},scope:i}}function Zp(n,e){let t=null;for(let i of n){
let s=i.style(e);s&&(t=t?t+" "+s:s)}return t}function Ac(n,e,t,i=0,s=n.length){let r=new Ko(i,Array.isArray(e)?
e:[e],t);r.highlightRange(n.cursor(),i,s,"",r.highlighters),r.flush(s)}var Ko=class{constructor(e,t,i){this.at=e,this.highlighters=t,this.span=i,this.class=""}startSpan(e,t){t!=this.
class&&(this.flush(e),e>this.at&&(this.at=e),this.class=t)}flush(e){e>this.at&&this.class&&this.span(this.at,e,
this.class)}highlightRange(e,t,i,s,r){let{type:o,from:l,to:a}=e;if(l>=i||a<=t)return;o.isTop&&(r=this.highlighters.
filter(d=>!d.scope||d.scope(o)));let h=s,c=em(e)||qt.empty,f=Zp(r,c.tags);if(f&&(h&&(h+=" "),h+=f,c.mode==1&&(s+=
(s?" ":"")+f)),this.startSpan(Math.max(t,l),h),c.opaque)return;let u=e.tree&&e.tree.prop(L.mounted);if(u&&u.overlay){
let d=e.node.enter(u.overlay[0].from+l,1),p=this.highlighters.filter(g=>!g.scope||g.scope(u.tree.type)),m=e.firstChild();
for(let g=0,b=l;;g++){let T=g<u.overlay.length?u.overlay[g]:null,x=T?T.from+l:a,D=Math.max(t,b),w=Math.min(i,x);
if(D<w&&m)for(;e.from<w&&(this.highlightRange(e,D,w,s,r),this.startSpan(Math.min(w,e.to),h),!(e.to>=x||!e.nextSibling()));)
;if(!T||x>i)break;b=T.to+l,b>t&&(this.highlightRange(d.cursor(),Math.max(t,T.from+l),Math.min(i,b),"",p),this.
startSpan(Math.min(i,b),h))}m&&e.parent()}else if(e.firstChild()){u&&(s="");do if(!(e.to<=t)){if(e.from>=i)break;
this.highlightRange(e,t,i,s,r),this.startSpan(Math.min(i,e.to),h)}while(e.nextSibling());e.parent()}}};function em(n){
let e=n.type.prop(Cc);for(;e&&e.context&&!n.matchContext(e.context);)e=e.next;return e||null}var C=$e.define,ms=C(),
wt=C(),vc=C(wt),Sc=C(wt),kt=C(),gs=C(kt),$o=C(kt),tt=C(),zt=C(tt),Ze=C(),et=C(),jo=C(),tn=C(jo),bs=C(),k={comment:ms,
lineComment:C(ms),blockComment:C(ms),docComment:C(ms),name:wt,variableName:C(wt),typeName:vc,tagName:C(vc),propertyName:Sc,
attributeName:C(Sc),className:C(wt),labelName:C(wt),namespace:C(wt),macroName:C(wt),literal:kt,string:gs,docString:C(
gs),character:C(gs),attributeValue:C(gs),number:$o,integer:C($o),float:C($o),bool:C(kt),regexp:C(kt),escape:C(
kt),color:C(kt),url:C(kt),keyword:Ze,self:C(Ze),null:C(Ze),atom:C(Ze),unit:C(Ze),modifier:C(Ze),operatorKeyword:C(
Ze),controlKeyword:C(Ze),definitionKeyword:C(Ze),moduleKeyword:C(Ze),operator:et,derefOperator:C(et),arithmeticOperator:C(
et),logicOperator:C(et),bitwiseOperator:C(et),compareOperator:C(et),updateOperator:C(et),definitionOperator:C(
et),typeOperator:C(et),controlOperator:C(et),punctuation:jo,separator:C(jo),bracket:tn,angleBracket:C(tn),squareBracket:C(
tn),paren:C(tn),brace:C(tn),content:tt,heading:zt,heading1:C(zt),heading2:C(zt),heading3:C(zt),heading4:C(zt),
heading5:C(zt),heading6:C(zt),contentSeparator:C(tt),list:C(tt),quote:C(tt),emphasis:C(tt),strong:C(tt),link:C(
tt),monospace:C(tt),strikethrough:C(tt),inserted:C(),deleted:C(),changed:C(),invalid:C(),meta:bs,documentMeta:C(
bs),annotation:C(bs),processingInstruction:C(bs),definition:$e.defineModifier("definition"),constant:$e.defineModifier(
"constant"),function:$e.defineModifier("function"),standard:$e.defineModifier("standard"),local:$e.defineModifier(
"local"),special:$e.defineModifier("special")};for(let n in k){let e=k[n];e instanceof $e&&(e.name=n)}var mb=Uo(
[{tag:k.link,class:"tok-link"},{tag:k.heading,class:"tok-heading"},{tag:k.emphasis,class:"tok-emphasis"},{tag:k.
strong,class:"tok-strong"},{tag:k.keyword,class:"tok-keyword"},{tag:k.atom,class:"tok-atom"},{tag:k.bool,class:"\
tok-bool"},{tag:k.url,class:"tok-url"},{tag:k.labelName,class:"tok-labelName"},{tag:k.inserted,class:"tok-inse\
rted"},{tag:k.deleted,class:"tok-deleted"},{tag:k.literal,class:"tok-literal"},{tag:k.string,class:"tok-string"},
{tag:k.number,class:"tok-number"},{tag:[k.regexp,k.escape,k.special(k.string)],class:"tok-string2"},{tag:k.variableName,
class:"tok-variableName"},{tag:k.local(k.variableName),class:"tok-variableName tok-local"},{tag:k.definition(k.
variableName),class:"tok-variableName tok-definition"},{tag:k.special(k.variableName),class:"tok-variableName2"},
{tag:k.definition(k.propertyName),class:"tok-propertyName tok-definition"},{tag:k.typeName,class:"tok-typeName"},
{tag:k.namespace,class:"tok-namespace"},{tag:k.className,class:"tok-className"},{tag:k.macroName,class:"tok-ma\
croName"},{tag:k.propertyName,class:"tok-propertyName"},{tag:k.operator,class:"tok-operator"},{tag:k.comment,class:"\
tok-comment"},{tag:k.meta,class:"tok-meta"},{tag:k.invalid,class:"tok-invalid"},{tag:k.punctuation,class:"tok-\
punctuation"}]);var Go,wi=new L;function tm(n){return S.define({combine:n?e=>e.concat(n):void 0})}var im=new L,Me=class{constructor(e,t,i=[],s=""){
this.data=e,this.name=s,j.prototype.hasOwnProperty("tree")||Object.defineProperty(j.prototype,"tree",{get(){return le(
this)}}),this.parser=t,this.extension=[vt.of(this),j.languageData.of((r,o,l)=>{let a=Mc(r,o,l),h=a.type.prop(wi);
if(!h)return[];let c=r.facet(h),f=a.type.prop(im);if(f){let u=a.resolve(o-a.from,l);for(let d of f)if(d.test(u,
r)){let p=r.facet(d.facet);return d.type=="replace"?p:p.concat(c)}}return c})].concat(i)}isActiveAt(e,t,i=-1){
return Mc(e,t,i).type.prop(wi)==this.data}findRegions(e){let t=e.facet(vt);if(t?.data==this.data)return[{from:0,
to:e.doc.length}];if(!t||!t.allowsNesting)return[];let i=[],s=(r,o)=>{if(r.prop(wi)==this.data){i.push({from:o,
to:o+r.length});return}let l=r.prop(L.mounted);if(l){if(l.tree.prop(wi)==this.data){if(l.overlay)for(let a of l.
overlay)i.push({from:a.from+o,to:a.to+o});else i.push({from:o,to:o+r.length});return}else if(l.overlay){let a=i.
length;if(s(l.tree,l.overlay[0].from+o),i.length>a)return}}for(let a=0;a<r.children.length;a++){let h=r.children[a];
h instanceof ee&&s(h,r.positions[a]+o)}};return s(le(e),0),i}get allowsNesting(){return!0}};Me.setState=B.define();
function Mc(n,e,t){let i=n.facet(vt),s=le(n).topNode;if(!i||i.allowsNesting)for(let r=s;r;r=r.enter(e,t,X.ExcludeBuffers|
X.EnterBracketed))r.type.isTop&&(s=r);return s}var ws=class n extends Me{constructor(e,t,i){super(e,t,[],i),this.
parser=t}static define(e){let t=tm(e.languageData);return new n(t,e.parser.configure({props:[wi.add(i=>i.isTop?
t:void 0)]}),e.name)}configure(e,t){return new n(this.data,this.parser.configure(e),t||this.name)}get allowsNesting(){
return this.parser.hasWrappers()}};function le(n){let e=n.field(Me.state,!1);return e?e.tree:ee.empty}var Qo=class{constructor(e){this.doc=e,this.cursorPos=0,this.string="",this.cursor=e.iter()}get length(){return this.
doc.length}syncTo(e){return this.string=this.cursor.next(e-this.cursorPos).value,this.cursorPos=e+this.string.
length,this.cursorPos-this.string.length}chunk(e){return this.syncTo(e),this.string}get lineChunks(){return!0}read(e,t){
let i=this.cursorPos-this.string.length;return e<i||t>=this.cursorPos?this.doc.sliceString(e,t):this.string.slice(
e-i,t-i)}},nn=null,Jo=class n{constructor(e,t,i=[],s,r,o,l,a){this.parser=e,this.state=t,this.fragments=i,this.
tree=s,this.treeLen=r,this.viewport=o,this.skipped=l,this.scheduleOn=a,this.parse=null,this.tempSkipped=[]}static create(e,t,i){
return new n(e,t,[],ee.empty,0,i,[],null)}startParse(){return this.parser.startParse(new Qo(this.state.doc),this.
fragments)}work(e,t){return t!=null&&t>=this.state.doc.length&&(t=void 0),this.tree!=ee.empty&&this.isDone(t??
this.state.doc.length)?(this.takeTree(),!0):this.withContext(()=>{var i;if(typeof e=="number"){let s=Date.now()+
e;e=()=>Date.now()>s}for(this.parse||(this.parse=this.startParse()),t!=null&&(this.parse.stoppedAt==null||this.
parse.stoppedAt>t)&&t<this.state.doc.length&&this.parse.stopAt(t);;){let s=this.parse.advance();if(s)if(this.fragments=
this.withoutTempSkipped(Vt.addTree(s,this.fragments,this.parse.stoppedAt!=null)),this.treeLen=(i=this.parse.stoppedAt)!==
null&&i!==void 0?i:this.state.doc.length,this.tree=s,this.parse=null,this.treeLen<(t??this.state.doc.length))this.
parse=this.startParse();else return!0;if(e())return!1}})}takeTree(){let e,t;this.parse&&(e=this.parse.parsedPos)>=
this.treeLen&&((this.parse.stoppedAt==null||this.parse.stoppedAt>e)&&this.parse.stopAt(e),this.withContext(()=>{
for(;!(t=this.parse.advance()););}),this.treeLen=e,this.tree=t,this.fragments=this.withoutTempSkipped(Vt.addTree(
this.tree,this.fragments,!0)),this.parse=null)}withContext(e){let t=nn;nn=this;try{return e()}finally{nn=t}}withoutTempSkipped(e){
for(let t;t=this.tempSkipped.pop();)e=Tc(e,t.from,t.to);return e}changes(e,t){let{fragments:i,tree:s,treeLen:r,
viewport:o,skipped:l}=this;if(this.takeTree(),!e.empty){let a=[];if(e.iterChangedRanges((h,c,f,u)=>a.push({fromA:h,
toA:c,fromB:f,toB:u})),i=Vt.applyChanges(i,a),s=ee.empty,r=0,o={from:e.mapPos(o.from,-1),to:e.mapPos(o.to,1)},
this.skipped.length){l=[];for(let h of this.skipped){let c=e.mapPos(h.from,1),f=e.mapPos(h.to,-1);c<f&&l.push(
{from:c,to:f})}}}return new n(this.parser,t,i,s,r,o,l,this.scheduleOn)}updateViewport(e){if(this.viewport.from==
e.from&&this.viewport.to==e.to)return!1;this.viewport=e;let t=this.skipped.length;for(let i=0;i<this.skipped.length;i++){
let{from:s,to:r}=this.skipped[i];s<e.to&&r>e.from&&(this.fragments=Tc(this.fragments,s,r),this.skipped.splice(
i--,1))}return this.skipped.length>=t?!1:(this.reset(),!0)}reset(){this.parse&&(this.takeTree(),this.parse=null)}skipUntilInView(e,t){
this.skipped.push({from:e,to:t})}static getSkippingParser(e){return new class extends xi{createParse(t,i,s){let r=s[0].
from,o=s[s.length-1].to;return{parsedPos:r,advance(){let a=nn;if(a){for(let h of s)a.tempSkipped.push(h);e&&(a.
scheduleOn=a.scheduleOn?Promise.all([a.scheduleOn,e]):e)}return this.parsedPos=o,new ee(fe.none,[],[],o-r)},stoppedAt:null,
stopAt(){}}}}}isDone(e){e=Math.min(e,this.state.doc.length);let t=this.fragments;return this.treeLen>=e&&t.length&&
t[0].from==0&&t[0].to>=e}static get(){return nn}};function Tc(n,e,t){return Vt.applyChanges(n,[{fromA:e,toA:t,
fromB:e,toB:t}])}var rn=class n{constructor(e){this.context=e,this.tree=e.tree}apply(e){if(!e.docChanged&&this.
tree==this.context.tree)return this;let t=this.context.changes(e.changes,e.state),i=this.context.treeLen==e.startState.
doc.length?void 0:Math.max(e.changes.mapPos(this.context.treeLen),t.viewport.to);return t.work(20,i)||t.takeTree(),
new n(t)}static init(e){let t=Math.min(3e3,e.doc.length),i=Jo.create(e.facet(vt).parser,e,{from:0,to:t});return i.
work(20,t)||i.takeTree(),new n(i)}};Me.state=Q.define({create:rn.init,update(n,e){for(let t of e.effects)if(t.
is(Me.setState))return t.value;return e.startState.facet(vt)!=e.state.facet(vt)?rn.init(e.state):n.apply(e)}});
var Ec=n=>{let e=setTimeout(()=>n(),500);return()=>clearTimeout(e)};typeof requestIdleCallback<"u"&&(Ec=n=>{let e=-1,
t=setTimeout(()=>{e=requestIdleCallback(n,{timeout:400})},100);return()=>e<0?clearTimeout(t):cancelIdleCallback(
e)});var _o=typeof navigator<"u"&&(!((Go=navigator.scheduling)===null||Go===void 0)&&Go.isInputPending)?()=>navigator.
scheduling.isInputPending():null,nm=J.fromClass(class{constructor(e){this.view=e,this.working=null,this.workScheduled=
0,this.chunkEnd=-1,this.chunkBudget=-1,this.work=this.work.bind(this),this.scheduleWork()}update(e){let t=this.
view.state.field(Me.state).context;(t.updateViewport(e.view.viewport)||this.view.viewport.to>t.treeLen)&&this.
scheduleWork(),(e.docChanged||e.selectionSet)&&(this.view.hasFocus&&(this.chunkBudget+=50),this.scheduleWork()),
this.checkAsyncSchedule(t)}scheduleWork(){if(this.working)return;let{state:e}=this.view,t=e.field(Me.state);(t.
tree!=t.context.tree||!t.context.isDone(e.doc.length))&&(this.working=Ec(this.work))}work(e){this.working=null;
let t=Date.now();if(this.chunkEnd<t&&(this.chunkEnd<0||this.view.hasFocus)&&(this.chunkEnd=t+3e4,this.chunkBudget=
3e3),this.chunkBudget<=0)return;let{state:i,viewport:{to:s}}=this.view,r=i.field(Me.state);if(r.tree==r.context.
tree&&r.context.isDone(s+1e5))return;let o=Date.now()+Math.min(this.chunkBudget,100,e&&!_o?Math.max(25,e.timeRemaining()-
5):1e9),l=r.context.treeLen<s&&i.doc.length>s+1e3,a=r.context.work(()=>_o&&_o()||Date.now()>o,s+(l?0:1e5));this.
chunkBudget-=Date.now()-t,(a||this.chunkBudget<=0)&&(r.context.takeTree(),this.view.dispatch({effects:Me.setState.
of(new rn(r.context))})),this.chunkBudget>0&&!(a&&!l)&&this.scheduleWork(),this.checkAsyncSchedule(r.context)}checkAsyncSchedule(e){
e.scheduleOn&&(this.workScheduled++,e.scheduleOn.then(()=>this.scheduleWork()).catch(t=>ge(this.view.state,t)).
then(()=>this.workScheduled--),e.scheduleOn=null)}destroy(){this.working&&this.working()}isWorking(){return!!(this.
working||this.workScheduled>0)}},{eventHandlers:{focus(){this.scheduleWork()}}}),vt=S.define({combine(n){return n.
length?n[0]:null},enables:n=>[Me.state,nm,O.contentAttributes.compute([n],e=>{let t=e.facet(n);return t&&t.name?
{"data-language":t.name}:{}})]}),ks=class{constructor(e,t=[]){this.language=e,this.support=t,this.extension=[e,
t]}};var sm=S.define(),jt=S.define({combine:n=>{if(!n.length)return"  ";let e=n[0];if(!e||/\S/.test(e)||Array.from(
e).some(t=>t!=e[0]))throw new Error("Invalid indent unit: "+JSON.stringify(n[0]));return e}});function on(n){let e=n.
facet(jt);return e.charCodeAt(0)==9?n.tabSize*e.length:e.length}function vi(n,e){let t="",i=n.tabSize,s=n.facet(
jt)[0];if(s=="	"){for(;e>=i;)t+="	",e-=i;s=" "}for(let r=0;r<e;r++)t+=s;return t}function Cs(n,e){n instanceof
j&&(n=new $t(n));for(let i of n.state.facet(sm)){let s=i(n,e);if(s!==void 0)return s}let t=le(n.state);return t.
length>=e?rm(n,t,e):null}var $t=class{constructor(e,t={}){this.state=e,this.options=t,this.unit=on(e)}lineAt(e,t=1){let i=this.state.doc.
lineAt(e),{simulateBreak:s,simulateDoubleBreak:r}=this.options;return s!=null&&s>=i.from&&s<=i.to?r&&s==e?{text:"",
from:e}:(t<0?s<e:s<=e)?{text:i.text.slice(s-i.from),from:s}:{text:i.text.slice(0,s-i.from),from:i.from}:i}textAfterPos(e,t=1){
if(this.options.simulateDoubleBreak&&e==this.options.simulateBreak)return"";let{text:i,from:s}=this.lineAt(e,t);
return i.slice(e-s,Math.min(i.length,e+100-s))}column(e,t=1){let{text:i,from:s}=this.lineAt(e,t),r=this.countColumn(
i,e-s),o=this.options.overrideIndentation?this.options.overrideIndentation(s):-1;return o>-1&&(r+=o-this.countColumn(
i,i.search(/\S|$/))),r}countColumn(e,t=e.length){return pt(e,this.state.tabSize,t)}lineIndent(e,t=1){let{text:i,
from:s}=this.lineAt(e,t),r=this.options.overrideIndentation;if(r){let o=r(s);if(o>-1)return o}return this.countColumn(
i,i.search(/\S|$/))}get simulatedBreak(){return this.options.simulateBreak||null}},rl=new L;function rm(n,e,t){
let i=e.resolveStack(t),s=e.resolveInner(t,-1).resolve(t,0).enterUnfinishedNodesBefore(t);if(s!=i.node){let r=[];
for(let o=s;o&&!(o.from<i.node.from||o.to>i.node.to||o.from==i.node.from&&o.type==i.node.type);o=o.parent)r.push(
o);for(let o=r.length-1;o>=0;o--)i={node:r[o],next:i}}return Ic(i,n,t)}function Ic(n,e,t){for(let i=n;i;i=i.next){
let s=lm(i.node);if(s)return s(Zo.create(e,t,i))}return 0}function om(n){return n.pos==n.options.simulateBreak&&
n.options.simulateDoubleBreak}function lm(n){let e=n.type.prop(rl);if(e)return e;let t=n.firstChild,i;if(t&&(i=
t.type.prop(L.closedBy))){let s=n.lastChild,r=s&&i.indexOf(s.name)>-1;return o=>fm(o,!0,1,void 0,r&&!om(o)?s.from:
void 0)}return n.parent==null?am:null}function am(){return 0}var Zo=class n extends $t{constructor(e,t,i){super(
e.state,e.options),this.base=e,this.pos=t,this.context=i}get node(){return this.context.node}static create(e,t,i){
return new n(e,t,i)}get textAfter(){return this.textAfterPos(this.pos)}get baseIndent(){return this.baseIndentFor(
this.node)}baseIndentFor(e){let t=this.state.doc.lineAt(e.from);for(;;){let i=e.resolve(t.from);for(;i.parent&&
i.parent.from==i.from;)i=i.parent;if(hm(i,e))break;t=this.state.doc.lineAt(i.from)}return this.lineIndent(t.from)}continue(){
return Ic(this.context.next,this.base,this.pos)}};function hm(n,e){for(let t=e;t;t=t.parent)if(n==t)return!0;return!1}
function cm(n){let e=n.node,t=e.childAfter(e.from),i=e.lastChild;if(!t)return null;let s=n.options.simulateBreak,
r=n.state.doc.lineAt(t.from),o=s==null||s<=r.from?r.to:Math.min(r.to,s);for(let l=t.to;;){let a=e.childAfter(l);
if(!a||a==i)return null;if(!a.type.isSkipped){if(a.from>=o)return null;let h=/^ */.exec(r.text.slice(t.to-r.from))[0].
length;return{from:t.from,to:t.to+h}}l=a.to}}function fm(n,e,t,i,s){let r=n.textAfter,o=r.match(/^\s*/)[0].length,l=i&&r.slice(o,o+i.length)==i||s==n.pos+o,
a=e?cm(n):null;return a?l?n.column(a.from):n.column(a.to):n.baseIndent+(l?0:n.unit*t)}function ol({except:n,units:e=1}={}){return t=>{let i=n&&n.test(t.textAfter);return t.baseIndent+(i?0:e*t.unit)}}
var um=200;function Nc(){return j.transactionFilter.of(n=>{if(!n.docChanged||!n.isUserEvent("input.type")&&!n.
isUserEvent("input.complete"))return n;let e=n.startState.languageDataAt("indentOnInput",n.startState.selection.
main.head);if(!e.length)return n;let t=n.newDoc,{head:i}=n.newSelection.main,s=t.lineAt(i);if(i>s.from+um)return n;
let r=t.sliceString(s.from,i);if(!e.some(h=>h.test(r)))return n;let{state:o}=n,l=-1,a=[];for(let{head:h}of o.selection.
ranges){let c=o.doc.lineAt(h);if(c.from==l)continue;l=c.from;let f=Cs(o,c.from);if(f==null)continue;let u=/^\s*/.
exec(c.text)[0],d=vi(o,f);u!=d&&a.push({from:c.from,to:c.from+u.length,insert:d})}return a.length?[n,{changes:a,
sequential:!0}]:n})}var dm=S.define(),ll=new L;function Fc(n){let e=n.firstChild,t=n.lastChild;return e&&e.to<
t.from?{from:e.to,to:t.type.isError?n.to:t.from}:null}function pm(n,e,t){let i=le(n);if(i.length<t)return null;
let s=i.resolveStack(t,1),r=null;for(let o=s;o;o=o.next){let l=o.node;if(l.to<=t||l.from>t)continue;if(r&&l.from<
e)break;let a=l.type.prop(ll);if(a&&(l.to<i.length-50||i.length==n.doc.length||!mm(l))){let h=a(l,n);h&&h.from<=
t&&h.from>=e&&h.to>t&&(r=h)}}return r}function mm(n){let e=n.lastChild;return e&&e.to==n.to&&e.type.isError}function vs(n,e,t){
for(let i of n.facet(dm)){let s=i(n,e,t);if(s)return s}return pm(n,e,t)}function Wc(n,e){let t=e.mapPos(n.from,
1),i=e.mapPos(n.to,-1);return t>=i?void 0:{from:t,to:i}}var As=B.define({map:Wc}),ln=B.define({map:Wc});function Hc(n){
let e=[];for(let{head:t}of n.state.selection.ranges)e.some(i=>i.from<=t&&i.to>=t)||e.push(n.lineBlockAt(t));return e}
var Kt=Q.define({create(){return P.none},update(n,e){e.isUserEvent("delete")&&e.changes.iterChangedRanges((i,s)=>n=
Oc(n,i,s)),n=n.map(e.changes);let t=[];for(let i of e.effects)i.is(As)&&!gm(n,i.value.from,i.value.to)?t.push(
i.value):i.is(ln)&&(n=n.update({filter:(s,r)=>i.value.from!=s||i.value.to!=r,filterFrom:i.value.from,filterTo:i.
value.to}));if(t.length){let{preparePlaceholder:i}=e.state.facet(al),s=t.map(r=>(i?P.replace({widget:new el(i(
e.state,r))}):Dc).range(r.from,r.to));n=n.update({add:s})}return e.selection&&(n=Oc(n,e.selection.main.head)),
n},provide:n=>O.decorations.from(n),toJSON(n,e){let t=[];return n.between(0,e.doc.length,(i,s)=>{t.push(i,s)}),
t},fromJSON(n){if(!Array.isArray(n)||n.length%2)throw new RangeError("Invalid JSON for fold state");let e=[];for(let t=0;t<
n.length;){let i=n[t++],s=n[t++];if(typeof i!="number"||typeof s!="number")throw new RangeError("Invalid JSON \
for fold state");e.push(Dc.range(i,s))}return P.set(e,!0)}});function Oc(n,e,t=e){let i=!1;return n.between(e,
t,(s,r)=>{s<t&&r>e&&(i=!0)}),i?n.update({filterFrom:e,filterTo:t,filter:(s,r)=>s>=t||r<=e}):n}function Ss(n,e,t){var i;let s=null;return(i=n.field(Kt,!1))===null||i===void 0||i.between(e,t,(r,o)=>{(!s||s.
from>r)&&(s={from:r,to:o})}),s}function gm(n,e,t){let i=!1;return n.between(e,e,(s,r)=>{s==e&&r==t&&(i=!0)}),i}
function Vc(n,e){return n.field(Kt,!1)?e:e.concat(B.appendConfig.of($c()))}var bm=n=>{for(let e of Hc(n)){let t=vs(
n.state,e.from,e.to);if(t)return n.dispatch({effects:Vc(n.state,[As.of(t),zc(n,t)])}),!0}return!1},ym=n=>{if(!n.
state.field(Kt,!1))return!1;let e=[];for(let t of Hc(n)){let i=Ss(n.state,t.from,t.to);i&&e.push(ln.of(i),zc(n,
i,!1))}return e.length&&n.dispatch({effects:e}),e.length>0};function zc(n,e,t=!0){let i=n.state.doc.lineAt(e.from).
number,s=n.state.doc.lineAt(e.to).number;return O.announce.of(`${n.state.phrase(t?"Folded lines":"Unfolded lin\
es")} ${i} ${n.state.phrase("to")} ${s}.`)}var xm=n=>{let{state:e}=n,t=[];for(let i=0;i<e.doc.length;){let s=n.
lineBlockAt(i),r=vs(e,s.from,s.to);r&&t.push(As.of(r)),i=(r?n.lineBlockAt(r.to):s).to+1}return t.length&&n.dispatch(
{effects:Vc(n.state,t)}),!!t.length},wm=n=>{let e=n.state.field(Kt,!1);if(!e||!e.size)return!1;let t=[];return e.
between(0,n.state.doc.length,(i,s)=>{t.push(ln.of({from:i,to:s}))}),n.dispatch({effects:t}),!0};var qc=[{key:"Ctrl-Shift-[",mac:"Cmd-Alt-[",run:bm},{key:"Ctrl-Shift-]",mac:"Cmd-Alt-]",run:ym},{key:"Ctrl-Alt\
-[",run:xm},{key:"Ctrl-Alt-]",run:wm}],km={placeholderDOM:null,preparePlaceholder:null,placeholderText:"\u2026"},
al=S.define({combine(n){return ce(n,km)}});function $c(n){let e=[Kt,Sm];return n&&e.push(al.of(n)),e}function Kc(n,e){
let{state:t}=n,i=t.facet(al),s=o=>{let l=n.lineBlockAt(n.posAtDOM(o.target)),a=Ss(n.state,l.from,l.to);a&&n.dispatch(
{effects:ln.of(a)}),o.preventDefault()};if(i.placeholderDOM)return i.placeholderDOM(n,s,e);let r=document.createElement(
"span");return r.textContent=i.placeholderText,r.setAttribute("aria-label",t.phrase("folded code")),r.title=t.
phrase("unfold"),r.className="cm-foldPlaceholder",r.onclick=s,r}var Dc=P.replace({widget:new class extends we{toDOM(n){
return Kc(n,null)}}}),el=class extends we{constructor(e){super(),this.value=e}eq(e){return this.value==e.value}toDOM(e){
return Kc(e,this.value)}},vm={openText:"\u2304",closedText:"\u203A",markerDOM:null,domEventHandlers:{},foldingChanged:()=>!1},
sn=class extends ke{constructor(e,t){super(),this.config=e,this.open=t}eq(e){return this.config==e.config&&this.
open==e.open}toDOM(e){if(this.config.markerDOM)return this.config.markerDOM(this.open);let t=document.createElement(
"span");return t.textContent=this.open?this.config.openText:this.config.closedText,t.title=e.state.phrase(this.
open?"Fold line":"Unfold line"),t}};function jc(n={}){let e={...vm,...n},t=new sn(e,!0),i=new sn(e,!1),s=J.fromClass(
class{constructor(o){this.from=o.viewport.from,this.markers=this.buildMarkers(o)}update(o){(o.docChanged||o.viewportChanged||
o.startState.facet(vt)!=o.state.facet(vt)||o.startState.field(Kt,!1)!=o.state.field(Kt,!1)||le(o.startState)!=
le(o.state)||e.foldingChanged(o))&&(this.markers=this.buildMarkers(o.view))}buildMarkers(o){let l=new ye;for(let a of o.
viewportLineBlocks){let h=Ss(o.state,a.from,a.to)?i:vs(o.state,a.from,a.to)?t:null;h&&l.add(a.from,a.from,h)}return l.
finish()}}),{domEventHandlers:r}=e;return[s,fs({class:"cm-foldGutter",markers(o){var l;return((l=o.plugin(s))===
null||l===void 0?void 0:l.markers)||W.empty},initialSpacer(){return new sn(e,!1)},domEventHandlers:{...r,click:(o,l,a)=>{
if(r.click&&r.click(o,l,a))return!0;let h=Ss(o.state,l.from,l.to);if(h)return o.dispatch({effects:ln.of(h)}),!0;
let c=vs(o.state,l.from,l.to);return c?(o.dispatch({effects:As.of(c)}),!0):!1}}}),$c()]}var Sm=O.baseTheme({".\
cm-foldPlaceholder":{backgroundColor:"#eee",border:"1px solid #ddd",color:"#888",borderRadius:".2em",margin:"0\
 1px",padding:"0 1px",cursor:"pointer"},".cm-foldGutter span":{padding:"0 1px",cursor:"pointer"}}),ki=class n{constructor(e,t){
this.specs=e;let i;function s(l){let a=Be.newName();return(i||(i=Object.create(null)))["."+a]=l,a}let r=typeof t.
all=="string"?t.all:t.all?s(t.all):void 0,o=t.scope;this.scope=o instanceof Me?l=>l.prop(wi)==o.data:o?l=>l==o:
void 0,this.style=Uo(e.map(l=>({tag:l.tag,class:l.class||s(Object.assign({},l,{tag:null}))})),{all:r}).style,this.
module=i?new Be(i):null,this.themeType=t.themeType}static define(e,t){return new n(e,t||{})}},tl=S.define(),Uc=S.
define({combine(n){return n.length?[n[0]]:null}});function Yo(n){let e=n.facet(tl);return e.length?e:n.facet(Uc)}
function Gc(n,e){let t=[Cm],i;return n instanceof ki&&(n.module&&t.push(O.styleModule.of(n.module)),i=n.themeType),
e?.fallback?t.push(Uc.of(n)):i?t.push(tl.computeN([O.darkTheme],s=>s.facet(O.darkTheme)==(i=="dark")?[n]:[])):
t.push(tl.of(n)),t}var il=class{constructor(e){this.markCache=Object.create(null),this.tree=le(e.state),this.decorations=this.buildDeco(
e,Yo(e.state)),this.decoratedTo=e.viewport.to}update(e){let t=le(e.state),i=Yo(e.state),s=i!=Yo(e.startState),
{viewport:r}=e.view,o=e.changes.mapPos(this.decoratedTo,1);t.length<r.to&&!s&&t.type==this.tree.type&&o>=r.to?
(this.decorations=this.decorations.map(e.changes),this.decoratedTo=o):(t!=this.tree||e.viewportChanged||s)&&(this.
tree=t,this.decorations=this.buildDeco(e.view,i),this.decoratedTo=r.to)}buildDeco(e,t){if(!t||!this.tree.length)
return P.none;let i=new ye;for(let{from:s,to:r}of e.visibleRanges)Ac(this.tree,t,(o,l,a)=>{i.add(o,l,this.markCache[a]||
(this.markCache[a]=P.mark({class:a})))},s,r);return i.finish()}},Cm=ot.high(J.fromClass(il,{decorations:n=>n.decorations})),
Sb=ki.define([{tag:k.meta,color:"#404740"},{tag:k.link,textDecoration:"underline"},{tag:k.heading,textDecoration:"\
underline",fontWeight:"bold"},{tag:k.emphasis,fontStyle:"italic"},{tag:k.strong,fontWeight:"bold"},{tag:k.strikethrough,
textDecoration:"line-through"},{tag:k.keyword,color:"#708"},{tag:[k.atom,k.bool,k.url,k.contentSeparator,k.labelName],
color:"#219"},{tag:[k.literal,k.inserted],color:"#164"},{tag:[k.string,k.deleted],color:"#a11"},{tag:[k.regexp,
k.escape,k.special(k.string)],color:"#e40"},{tag:k.definition(k.variableName),color:"#00f"},{tag:k.local(k.variableName),
color:"#30a"},{tag:[k.typeName,k.namespace],color:"#085"},{tag:k.className,color:"#167"},{tag:[k.special(k.variableName),
k.macroName],color:"#256"},{tag:k.definition(k.propertyName),color:"#00c"},{tag:k.comment,color:"#940"},{tag:k.
invalid,color:"#f00"}]),Am=O.baseTheme({"&.cm-focused .cm-matchingBracket":{backgroundColor:"#328c8252"},"&.cm\
-focused .cm-nonmatchingBracket":{backgroundColor:"#bb555544"}}),_c=1e4,Yc="()[]{}",Xc=S.define({combine(n){return ce(
n,{afterCursor:!0,brackets:Yc,maxScanDistance:_c,renderMatch:Om})}}),Mm=P.mark({class:"cm-matchingBracket"}),Tm=P.
mark({class:"cm-nonmatchingBracket"});function Om(n){let e=[],t=n.matched?Mm:Tm;return e.push(t.range(n.start.
from,n.start.to)),n.end&&e.push(t.range(n.end.from,n.end.to)),e}function Pc(n){let e=[],t=n.facet(Xc);for(let i of n.
selection.ranges){if(!i.empty)continue;let s=Ke(n,i.head,-1,t)||i.head>0&&Ke(n,i.head-1,1,t)||t.afterCursor&&(Ke(
n,i.head,1,t)||i.head<n.doc.length&&Ke(n,i.head+1,-1,t));s&&(e=e.concat(t.renderMatch(s,n)))}return P.set(e,!0)}
var Dm=J.fromClass(class{constructor(n){this.paused=!1,this.decorations=Pc(n.state)}update(n){(n.docChanged||n.
selectionSet||this.paused)&&(n.view.composing?(this.decorations=this.decorations.map(n.changes),this.paused=!0):
(this.decorations=Pc(n.state),this.paused=!1))}},{decorations:n=>n.decorations}),Pm=[Dm,Am];function Qc(n={}){
return[Xc.of(n),Pm]}var Rm=new L;function nl(n,e,t){let i=n.prop(e<0?L.openedBy:L.closedBy);if(i)return i;if(n.
name.length==1){let s=t.indexOf(n.name);if(s>-1&&s%2==(e<0?1:0))return[t[s+e]]}return null}function sl(n){let e=n.
type.prop(Rm);return e?e(n.node):n}function Ke(n,e,t,i={}){let s=i.maxScanDistance||_c,r=i.brackets||Yc,o=le(n),
l=o.resolveInner(e,t);for(let a=l;a;a=a.parent){let h=nl(a.type,t,r);if(h&&a.from<a.to){let c=sl(a);if(c&&(t>0?
e>=c.from&&e<c.to:e>c.from&&e<=c.to))return Bm(n,e,t,a,c,h,r)}}return Lm(n,e,t,o,l.type,s,r)}function Bm(n,e,t,i,s,r,o){
let l=i.parent,a={from:s.from,to:s.to},h=0,c=l?.cursor();if(c&&(t<0?c.childBefore(i.from):c.childAfter(i.to)))
do if(t<0?c.to<=i.from:c.from>=i.to){if(h==0&&r.indexOf(c.type.name)>-1&&c.from<c.to){let f=sl(c);return{start:a,
end:f?{from:f.from,to:f.to}:void 0,matched:!0}}else if(nl(c.type,t,o))h++;else if(nl(c.type,-t,o)){if(h==0){let f=sl(
c);return{start:a,end:f&&f.from<f.to?{from:f.from,to:f.to}:void 0,matched:!1}}h--}}while(t<0?c.prevSibling():c.
nextSibling());return{start:a,matched:!1}}function Lm(n,e,t,i,s,r,o){if(t<0?!e:e==n.doc.length)return null;let l=t<
0?n.sliceDoc(e-1,e):n.sliceDoc(e,e+1),a=o.indexOf(l);if(a<0||a%2==0!=t>0)return null;let h={from:t<0?e-1:e,to:t>
0?e+1:e},c=n.doc.iterRange(e,t>0?n.doc.length:0),f=0;for(let u=0;!c.next().done&&u<=r;){let d=c.value;t<0&&(u+=
d.length);let p=e+u*t;for(let m=t>0?0:d.length-1,g=t>0?d.length:-1;m!=g;m+=t){let b=o.indexOf(d[m]);if(!(b<0||
i.resolveInner(p+m,1).type!=s))if(b%2==0==t>0)f++;else{if(f==1)return{start:h,end:{from:p+m,to:p+m+1},matched:b>>
1==a>>1};f--}}t>0&&(u+=d.length)}return c.done?{start:h,matched:!1}:null}var Em=Object.create(null),Rc=[fe.none];var Bc=[],Lc=Object.create(null),Im=Object.create(null);for(let[n,e]of[["variable","variableName"],["variable-\
2","variableName.special"],["string-2","string.special"],["def","variableName.definition"],["tag","tagName"],[
"attribute","attributeName"],["type","typeName"],["builtin","variableName.standard"],["qualifier","modifier"],
["error","invalid"],["header","heading"],["property","propertyName"]])Im[n]=Nm(Em,e);function Xo(n,e){Bc.indexOf(n)>-1||(Bc.push(n),console.warn(e))}function Nm(n,e){let t=[];for(let l of e.split(
" ")){let a=[];for(let h of l.split(".")){let c=n[h]||k[h];c?typeof c=="function"?a.length?a=a.map(c):Xo(h,`Mo\
difier ${h} used at start of tag`):a.length?Xo(h,`Tag ${h} used as modifier`):a=Array.isArray(c)?c:[c]:Xo(h,`U\
nknown highlighting tag ${h}`)}for(let h of a)t.push(h)}if(!t.length)return 0;let i=e.replace(/ /g,"_"),s=i+" "+
t.map(l=>l.id),r=Lc[s];if(r)return r.id;let o=Lc[s]=fe.define({id:Rc.length,name:i,props:[xs({[i]:t})]});return Rc.
push(o),o.id}var Cb={rtl:P.mark({class:"cm-iso",inclusive:!0,attributes:{dir:"rtl"},bidiIsolate:z.RTL}),ltr:P.mark({class:"\
cm-iso",inclusive:!0,attributes:{dir:"ltr"},bidiIsolate:z.LTR}),auto:P.mark({class:"cm-iso",inclusive:!0,attributes:{
dir:"auto"},bidiIsolate:null})};var Eb=typeof navigator=="object"&&/Win/.test(navigator.platform);var an={brackets:["(","[","{","'",'"'],before:")]}:;>",stringPrefixes:[]},Ut=B.define({map(n,e){let t=e.mapPos(
n,-1,re.TrackAfter);return t??void 0}}),cl=new class extends Re{};cl.startSide=1;cl.endSide=-1;var ef=Q.define(
{create(){return W.empty},update(n,e){if(n=n.map(e.changes),e.selection){let t=e.state.doc.lineAt(e.selection.
main.head);n=n.update({filter:i=>i>=t.from&&i<=t.to})}for(let t of e.effects)t.is(Ut)&&(n=n.update({add:[cl.range(
t.value,t.value+1)]}));return n}});function tf(){return[Wm,ef]}var hl="()[]{}<>\xAB\xBB\xBB\xAB\uFF3B\uFF3D\uFF5B\uFF5D";
function nf(n){for(let e=0;e<hl.length;e+=2)if(hl.charCodeAt(e)==n)return hl.charAt(e+1);return Tn(n<128?n:n+1)}
function sf(n,e){return n.languageDataAt("closeBrackets",e)[0]||an}var Fm=typeof navigator=="object"&&/Android\b/.
test(navigator.userAgent),Wm=O.inputHandler.of((n,e,t,i)=>{if((Fm?n.composing:n.compositionStarted)||n.state.readOnly)
return!1;let s=n.state.selection.main;if(i.length>2||i.length==2&&dt(He(i,0))==1||e!=s.from||t!=s.to)return!1;
let r=Vm(n.state,i);return r?(n.dispatch(r),!0):!1}),Hm=({state:n,dispatch:e})=>{if(n.readOnly)return!1;let i=sf(
n,n.selection.main.head).brackets||an.brackets,s=null,r=n.changeByRange(o=>{if(o.empty){let l=zm(n.doc,o.head);
for(let a of i)if(a==l&&Ms(n.doc,o.head)==nf(He(a,0)))return{changes:{from:o.head-a.length,to:o.head+a.length},
range:y.cursor(o.head-a.length)}}return{range:s=o}});return s||e(n.update(r,{scrollIntoView:!0,userEvent:"dele\
te.backward"})),!s},rf=[{key:"Backspace",run:Hm}];function Vm(n,e){let t=sf(n,n.selection.main.head),i=t.brackets||
an.brackets;for(let s of i){let r=nf(He(s,0));if(e==s)return r==s?Km(n,s,i.indexOf(s+s+s)>-1,t):qm(n,s,r,t.before||
an.before);if(e==r&&of(n,n.selection.main.from))return $m(n,s,r)}return null}function of(n,e){let t=!1;return n.
field(ef).between(0,n.doc.length,i=>{i==e&&(t=!0)}),t}function Ms(n,e){let t=n.sliceString(e,e+2);return t.slice(
0,dt(He(t,0)))}function zm(n,e){let t=n.sliceString(e-2,e);return dt(He(t,0))==t.length?t:t.slice(1)}function qm(n,e,t,i){
let s=null,r=n.changeByRange(o=>{if(!o.empty)return{changes:[{insert:e,from:o.from},{insert:t,from:o.to}],effects:Ut.
of(o.to+e.length),range:y.range(o.anchor+e.length,o.head+e.length)};let l=Ms(n.doc,o.head);return!l||/\s/.test(
l)||i.indexOf(l)>-1?{changes:{insert:e+t,from:o.head},effects:Ut.of(o.head+e.length),range:y.cursor(o.head+e.length)}:
{range:s=o}});return s?null:n.update(r,{scrollIntoView:!0,userEvent:"input.type"})}function $m(n,e,t){let i=null,
s=n.changeByRange(r=>r.empty&&Ms(n.doc,r.head)==t?{changes:{from:r.head,to:r.head+t.length,insert:t},range:y.cursor(
r.head+t.length)}:i={range:r});return i?null:n.update(s,{scrollIntoView:!0,userEvent:"input.type"})}function Km(n,e,t,i){
let s=i.stringPrefixes||an.stringPrefixes,r=null,o=n.changeByRange(l=>{if(!l.empty)return{changes:[{insert:e,from:l.
from},{insert:e,from:l.to}],effects:Ut.of(l.to+e.length),range:y.range(l.anchor+e.length,l.head+e.length)};let a=l.
head,h=Ms(n.doc,a),c;if(h==e){if(Jc(n,a))return{changes:{insert:e+e,from:a},effects:Ut.of(a+e.length),range:y.
cursor(a+e.length)};if(of(n,a)){let u=t&&n.sliceDoc(a,a+e.length*3)==e+e+e?e+e+e:e;return{changes:{from:a,to:a+
u.length,insert:u},range:y.cursor(a+u.length)}}}else{if(t&&n.sliceDoc(a-2*e.length,a)==e+e&&(c=Zc(n,a-2*e.length,
s))>-1&&Jc(n,c))return{changes:{insert:e+e+e+e,from:a},effects:Ut.of(a+e.length),range:y.cursor(a+e.length)};if(n.
charCategorizer(a)(h)!=$.Word&&Zc(n,a,s)>-1&&!jm(n,a,e,s))return{changes:{insert:e+e,from:a},effects:Ut.of(a+e.
length),range:y.cursor(a+e.length)}}return{range:r=l}});return r?null:n.update(o,{scrollIntoView:!0,userEvent:"\
input.type"})}function Jc(n,e){let t=le(n).resolveInner(e+1);return t.parent&&t.from==e}function jm(n,e,t,i){let s=le(
n).resolveInner(e,-1),r=i.reduce((o,l)=>Math.max(o,l.length),0);for(let o=0;o<5;o++){let l=n.sliceDoc(s.from,Math.
min(s.to,s.from+t.length+r)),a=l.indexOf(t);if(!a||a>-1&&i.indexOf(l.slice(0,a))>-1){let c=s.firstChild;for(;c&&
c.from==s.from&&c.to-c.from>t.length+a;){if(n.sliceDoc(c.to-t.length,c.to)==t)return!1;c=c.firstChild}return!0}
let h=s.to==e&&s.parent;if(!h)break;s=h}return!1}function Zc(n,e,t){let i=n.charCategorizer(e);if(i(n.sliceDoc(
e-1,e))!=$.Word)return e;for(let s of t){let r=e-s.length;if(n.sliceDoc(r,e)==s&&i(n.sliceDoc(r-1,r))!=$.Word)
return r}return-1}var Um=n=>{let{state:e}=n,t=e.doc.lineAt(e.selection.main.from),i=bl(n.state,t.from);return i.line?Gm(n):i.block?
Ym(n):!1};function gl(n,e){return({state:t,dispatch:i})=>{if(t.readOnly)return!1;let s=n(e,t);return s?(i(t.update(
s)),!0):!1}}var Gm=gl(Jm,0);var _m=gl(mf,0);var Ym=gl((n,e)=>mf(n,e,Qm(e)),0);function bl(n,e){let t=n.languageDataAt("commentTokens",e,1);return t.length?
t[0]:{}}var hn=50;function Xm(n,{open:e,close:t},i,s){let r=n.sliceDoc(i-hn,i),o=n.sliceDoc(s,s+hn),l=/\s*$/.exec(
r)[0].length,a=/^\s*/.exec(o)[0].length,h=r.length-l;if(r.slice(h-e.length,h)==e&&o.slice(a,a+t.length)==t)return{
open:{pos:i-l,margin:l&&1},close:{pos:s+a,margin:a&&1}};let c,f;s-i<=2*hn?c=f=n.sliceDoc(i,s):(c=n.sliceDoc(i,
i+hn),f=n.sliceDoc(s-hn,s));let u=/^\s*/.exec(c)[0].length,d=/\s*$/.exec(f)[0].length,p=f.length-d-t.length;return c.
slice(u,u+e.length)==e&&f.slice(p,p+t.length)==t?{open:{pos:i+u+e.length,margin:/\s/.test(c.charAt(u+e.length))?
1:0},close:{pos:s-d-t.length,margin:/\s/.test(f.charAt(p-1))?1:0}}:null}function Qm(n){let e=[];for(let t of n.
selection.ranges){let i=n.doc.lineAt(t.from),s=t.to<=i.to?i:n.doc.lineAt(t.to);s.from>i.from&&s.from==t.to&&(s=
t.to==i.to+1?i:n.doc.lineAt(t.to-1));let r=e.length-1;r>=0&&e[r].to>i.from?e[r].to=s.to:e.push({from:i.from+/^\s*/.
exec(i.text)[0].length,to:s.to})}return e}function mf(n,e,t=e.selection.ranges){let i=t.map(r=>bl(e,r.from).block);
if(!i.every(r=>r))return null;let s=t.map((r,o)=>Xm(e,i[o],r.from,r.to));if(n!=2&&!s.every(r=>r))return{changes:e.
changes(t.map((r,o)=>s[o]?[]:[{from:r.from,insert:i[o].open+" "},{from:r.to,insert:" "+i[o].close}]))};if(n!=1&&
s.some(r=>r)){let r=[];for(let o=0,l;o<s.length;o++)if(l=s[o]){let a=i[o],{open:h,close:c}=l;r.push({from:h.pos-
a.open.length,to:h.pos+h.margin},{from:c.pos-c.margin,to:c.pos+a.close.length})}return{changes:r}}return null}
function Jm(n,e,t=e.selection.ranges){let i=[],s=-1;e:for(let{from:r,to:o}of t){let l=i.length,a=1e9,h;for(let c=r;c<=
o;){let f=e.doc.lineAt(c);if(h==null&&(h=bl(e,f.from).line,!h))continue e;if(f.from>s&&(r==o||o>f.from)){s=f.from;
let u=/^\s*/.exec(f.text)[0].length,d=u==f.length,p=f.text.slice(u,u+h.length)==h?u:-1;u<f.text.length&&u<a&&(a=
u),i.push({line:f,comment:p,token:h,indent:u,empty:d,single:!1})}c=f.to+1}if(a<1e9)for(let c=l;c<i.length;c++)
i[c].indent<i[c].line.text.length&&(i[c].indent=a);i.length==l+1&&(i[l].single=!0)}if(n!=2&&i.some(r=>r.comment<
0&&(!r.empty||r.single))){let r=[];for(let{line:l,token:a,indent:h,empty:c,single:f}of i)(f||!c)&&r.push({from:l.
from+h,insert:a+" "});let o=e.changes(r);return{changes:o,selection:e.selection.map(o,1)}}else if(n!=1&&i.some(
r=>r.comment>=0)){let r=[];for(let{line:o,comment:l,token:a}of i)if(l>=0){let h=o.from+l,c=h+a.length;o.text[c-
o.from]==" "&&c++,r.push({from:h,to:c})}return{changes:r}}return null}var ul=Ce.define(),Zm=Ce.define(),eg=S.define(),
gf=S.define({combine(n){return ce(n,{minDepth:100,newGroupDelay:500,joinToEvent:(e,t)=>t},{minDepth:Math.max,newGroupDelay:Math.
min,joinToEvent:(e,t)=>(i,s)=>e(i,s)||t(i,s)})}}),bf=Q.define({create(){return Gt.empty},update(n,e){let t=e.state.
facet(gf),i=e.annotation(ul);if(i){let a=je.fromTransaction(e,i.selection),h=i.side,c=h==0?n.undone:n.done;return a?
c=Os(c,c.length,t.minDepth,a):c=kf(c,e.startState.selection),new Gt(h==0?i.rest:c,h==0?c:i.rest)}let s=e.annotation(
Zm);if((s=="full"||s=="before")&&(n=n.isolate()),e.annotation(ie.addToHistory)===!1)return e.changes.empty?n:n.
addMapping(e.changes.desc);let r=je.fromTransaction(e),o=e.annotation(ie.time),l=e.annotation(ie.userEvent);return r?
n=n.addChanges(r,o,l,t,e):e.selection&&(n=n.addSelection(e.startState.selection,o,l,t.newGroupDelay)),(s=="ful\
l"||s=="after")&&(n=n.isolate()),n},toJSON(n){return{done:n.done.map(e=>e.toJSON()),undone:n.undone.map(e=>e.toJSON())}},
fromJSON(n){return new Gt(n.done.map(je.fromJSON),n.undone.map(je.fromJSON))}});function yf(n={}){return[bf,gf.
of(n),O.domEventHandlers({beforeinput(e,t){let i=e.inputType=="historyUndo"?xf:e.inputType=="historyRedo"?dl:null;
return i?(e.preventDefault(),i(t)):!1}})]}function Ds(n,e){return function({state:t,dispatch:i}){if(!e&&t.readOnly)return!1;let s=t.field(bf,!1);if(!s)return!1;
let r=s.pop(n,t,e);return r?(i(r),!0):!1}}var xf=Ds(0,!1),dl=Ds(1,!1),tg=Ds(0,!0),ig=Ds(1,!0);var je=class n{constructor(e,t,i,s,r){this.changes=e,this.effects=t,this.mapped=i,this.startSelection=s,this.selectionsAfter=
r}setSelAfter(e){return new n(this.changes,this.effects,this.mapped,this.startSelection,e)}toJSON(){var e,t,i;
return{changes:(e=this.changes)===null||e===void 0?void 0:e.toJSON(),mapped:(t=this.mapped)===null||t===void 0?
void 0:t.toJSON(),startSelection:(i=this.startSelection)===null||i===void 0?void 0:i.toJSON(),selectionsAfter:this.
selectionsAfter.map(s=>s.toJSON())}}static fromJSON(e){return new n(e.changes&&pe.fromJSON(e.changes),[],e.mapped&&
rt.fromJSON(e.mapped),e.startSelection&&y.fromJSON(e.startSelection),e.selectionsAfter.map(y.fromJSON))}static fromTransaction(e,t){
let i=Ne;for(let s of e.startState.facet(eg)){let r=s(e);r.length&&(i=i.concat(r))}return!i.length&&e.changes.
empty?null:new n(e.changes.invert(e.startState.doc),i,void 0,t||e.startState.selection,Ne)}static selection(e){
return new n(void 0,Ne,void 0,void 0,e)}};function Os(n,e,t,i){let s=e+1>t+20?e-t-1:0,r=n.slice(s,e);return r.
push(i),r}function ng(n,e){let t=[],i=!1;return n.iterChangedRanges((s,r)=>t.push(s,r)),e.iterChangedRanges((s,r,o,l)=>{
for(let a=0;a<t.length;){let h=t[a++],c=t[a++];l>=h&&o<=c&&(i=!0)}}),i}function sg(n,e){return n.ranges.length==
e.ranges.length&&n.ranges.filter((t,i)=>t.empty!=e.ranges[i].empty).length===0}function wf(n,e){return n.length?
e.length?n.concat(e):n:e}var Ne=[],rg=200;function kf(n,e){if(n.length){let t=n[n.length-1],i=t.selectionsAfter.
slice(Math.max(0,t.selectionsAfter.length-rg));return i.length&&i[i.length-1].eq(e)?n:(i.push(e),Os(n,n.length-
1,1e9,t.setSelAfter(i)))}else return[je.selection([e])]}function og(n){let e=n[n.length-1],t=n.slice();return t[n.
length-1]=e.setSelAfter(e.selectionsAfter.slice(0,e.selectionsAfter.length-1)),t}function fl(n,e){if(!n.length)
return n;let t=n.length,i=Ne;for(;t;){let s=lg(n[t-1],e,i);if(s.changes&&!s.changes.empty||s.effects.length){let r=n.
slice(0,t);return r[t-1]=s,r}else e=s.mapped,t--,i=s.selectionsAfter}return i.length?[je.selection(i)]:Ne}function lg(n,e,t){
let i=wf(n.selectionsAfter.length?n.selectionsAfter.map(l=>l.map(e)):Ne,t);if(!n.changes)return je.selection(i);
let s=n.changes.map(e),r=e.mapDesc(n.changes,!0),o=n.mapped?n.mapped.composeDesc(r):r;return new je(s,B.mapEffects(
n.effects,e),o,n.startSelection.map(r),i)}var ag=/^(input\.type|delete)($|\.)/,Gt=class n{constructor(e,t,i=0,s=void 0){
this.done=e,this.undone=t,this.prevTime=i,this.prevUserEvent=s}isolate(){return this.prevTime?new n(this.done,
this.undone):this}addChanges(e,t,i,s,r){let o=this.done,l=o[o.length-1];return l&&l.changes&&!l.changes.empty&&
e.changes&&(!i||ag.test(i))&&(!l.selectionsAfter.length&&t-this.prevTime<s.newGroupDelay&&s.joinToEvent(r,ng(l.
changes,e.changes))||i=="input.type.compose")?o=Os(o,o.length-1,s.minDepth,new je(e.changes.compose(l.changes),
wf(B.mapEffects(e.effects,l.changes),l.effects),l.mapped,l.startSelection,Ne)):o=Os(o,o.length,s.minDepth,e),new n(
o,Ne,t,i)}addSelection(e,t,i,s){let r=this.done.length?this.done[this.done.length-1].selectionsAfter:Ne;return r.
length>0&&t-this.prevTime<s&&i==this.prevUserEvent&&i&&/^select($|\.)/.test(i)&&sg(r[r.length-1],e)?this:new n(
kf(this.done,e),this.undone,t,i)}addMapping(e){return new n(fl(this.done,e),fl(this.undone,e),this.prevTime,this.
prevUserEvent)}pop(e,t,i){let s=e==0?this.done:this.undone;if(s.length==0)return null;let r=s[s.length-1],o=r.
selectionsAfter[0]||(r.startSelection?r.startSelection.map(r.changes.invertedDesc,1):t.selection);if(i&&r.selectionsAfter.
length)return t.update({selection:r.selectionsAfter[r.selectionsAfter.length-1],annotations:ul.of({side:e,rest:og(
s),selection:o}),userEvent:e==0?"select.undo":"select.redo",scrollIntoView:!0});if(r.changes){let l=s.length==
1?Ne:s.slice(0,s.length-1);return r.mapped&&(l=fl(l,r.mapped)),t.update({changes:r.changes,selection:r.startSelection,
effects:r.effects,annotations:ul.of({side:e,rest:l,selection:o}),filter:!1,userEvent:e==0?"undo":"redo",scrollIntoView:!0})}else
return null}};Gt.empty=new Gt(Ne,Ne);var vf=[{key:"Mod-z",run:xf,preventDefault:!0},{key:"Mod-y",mac:"Mod-Shif\
t-z",run:dl,preventDefault:!0},{linux:"Ctrl-Shift-z",run:dl,preventDefault:!0},{key:"Mod-u",run:tg,preventDefault:!0},
{key:"Alt-u",mac:"Mod-Shift-u",run:ig,preventDefault:!0}];function Si(n,e){return y.create(n.ranges.map(e),n.mainIndex)}
function Ue(n,e){return n.update({selection:e,scrollIntoView:!0,userEvent:"select"})}function Ge({state:n,dispatch:e},t){
let i=Si(n.selection,t);return i.eq(n.selection,!0)?!1:(e(Ue(n,i)),!0)}function Ps(n,e){return y.cursor(e?n.to:
n.from)}function Sf(n,e){return Ge(n,t=>t.empty?n.moveByChar(t,e):Ps(t,e))}function ue(n){return n.textDirectionAt(
n.state.selection.main.head)==z.LTR}var Cf=n=>Sf(n,!ue(n)),Af=n=>Sf(n,ue(n));function Mf(n,e){return Ge(n,t=>t.empty?n.moveByGroup(t,e):Ps(t,e))}var hg=n=>Mf(n,!ue(n)),cg=n=>Mf(n,ue(n));var zb=typeof Intl<"u"&&Intl.Segmenter?new Intl.Segmenter(void 0,{granularity:"word"}):null;function fg(n,e,t){if(e.type.prop(t))return!0;let i=e.to-e.from;return i&&(i>2||/[^\s,.;:]/.test(n.sliceDoc(e.
from,e.to)))||e.firstChild}function Rs(n,e,t){let i=le(n).resolveInner(e.head),s=t?L.closedBy:L.openedBy;for(let a=e.
head;;){let h=t?i.childAfter(a):i.childBefore(a);if(!h)break;fg(n,h,s)?i=h:a=t?h.to:h.from}let r=i.type.prop(s),
o,l;return r&&(o=t?Ke(n,i.from,1):Ke(n,i.to,-1))&&o.matched?l=t?o.end.to:o.end.from:l=t?i.to:i.from,y.cursor(l,
t?-1:1)}var ug=n=>Ge(n,e=>Rs(n.state,e,!ue(n))),dg=n=>Ge(n,e=>Rs(n.state,e,ue(n)));function Tf(n,e){return Ge(
n,t=>{if(!t.empty)return Ps(t,e);let i=n.moveVertically(t,e);return i.head!=t.head?i:n.moveToLineBoundary(t,e)})}
var Of=n=>Tf(n,!1),Df=n=>Tf(n,!0);function Pf(n){let e=n.scrollDOM.clientHeight<n.scrollDOM.scrollHeight-2,t=0,
i=0,s;if(e){for(let r of n.state.facet(O.scrollMargins)){let o=r(n);o?.top&&(t=Math.max(o?.top,t)),o?.bottom&&
(i=Math.max(o?.bottom,i))}s=n.scrollDOM.clientHeight-t-i}else s=(n.dom.ownerDocument.defaultView||window).innerHeight;
return{marginTop:t,marginBottom:i,selfScroll:e,height:Math.max(n.defaultLineHeight,s-5)}}function Rf(n,e){let t=Pf(
n),{state:i}=n,s=Si(i.selection,o=>o.empty?n.moveVertically(o,e,t.height):Ps(o,e));if(s.eq(i.selection))return!1;
let r;if(t.selfScroll){let o=n.coordsAtPos(i.selection.main.head),l=n.scrollDOM.getBoundingClientRect(),a=l.top+
t.marginTop,h=l.bottom-t.marginBottom;o&&o.top>a&&o.bottom<h&&(r=O.scrollIntoView(s.main.head,{y:"start",yMargin:o.
top-a}))}return n.dispatch(Ue(i,s),{effects:r}),!0}var lf=n=>Rf(n,!1),pl=n=>Rf(n,!0);function St(n,e,t){let i=n.
lineBlockAt(e.head),s=n.moveToLineBoundary(e,t);if(s.head==e.head&&s.head!=(t?i.to:i.from)&&(s=n.moveToLineBoundary(
e,t,!1)),!t&&s.head==i.from&&i.length){let r=/^\s*/.exec(n.state.sliceDoc(i.from,Math.min(i.from+100,i.to)))[0].
length;r&&e.head!=i.from+r&&(s=y.cursor(i.from+r))}return s}var pg=n=>Ge(n,e=>St(n,e,!0)),mg=n=>Ge(n,e=>St(n,e,
!1)),gg=n=>Ge(n,e=>St(n,e,!ue(n))),bg=n=>Ge(n,e=>St(n,e,ue(n))),yg=n=>Ge(n,e=>n.moveToLineBoundary(e,!1,!1)),xg=n=>Ge(
n,e=>n.moveToLineBoundary(e,!0,!1));function wg(n,e,t){let i=!1,s=Si(n.selection,r=>{let o=Ke(n,r.head,-1)||Ke(
n,r.head,1)||r.head>0&&Ke(n,r.head-1,1)||r.head<n.doc.length&&Ke(n,r.head+1,-1);if(!o||!o.end)return r;i=!0;let l=o.
start.from==r.head?o.end.to:o.end.from;return t?y.range(r.anchor,l):y.cursor(l)});return i?(e(Ue(n,s)),!0):!1}
var kg=({state:n,dispatch:e})=>wg(n,e,!1);function Fe(n,e,t){let i=Si(n.state.selection,s=>{s.undirectional&&s.head>=s.anchor!=e&&(s=y.range(s.head,s.anchor));
let r=t(s);return y.range(s.anchor,r.head,r.goalColumn,r.bidiLevel||void 0,r.assoc)});return i.eq(n.state.selection)?
!1:(n.dispatch(Ue(n.state,i)),!0)}function Bf(n,e){return Fe(n,e,t=>n.moveByChar(t,e))}var Lf=n=>Bf(n,!ue(n)),
Ef=n=>Bf(n,ue(n));function If(n,e){return Fe(n,e,t=>n.moveByGroup(t,e))}var vg=n=>If(n,!ue(n)),Sg=n=>If(n,ue(n));var Cg=n=>{let e=!ue(n);return Fe(n,e,t=>Rs(n.state,t,e))},Ag=n=>{let e=ue(n);return Fe(n,e,t=>Rs(n.state,t,e))};
function Nf(n,e){return Fe(n,e,t=>n.moveVertically(t,e))}var Ff=n=>Nf(n,!1),Wf=n=>Nf(n,!0);function Hf(n,e){return Fe(
n,e,t=>n.moveVertically(t,e,Pf(n).height))}var af=n=>Hf(n,!1),hf=n=>Hf(n,!0),Mg=n=>Fe(n,!0,e=>St(n,e,!0)),Tg=n=>Fe(
n,!1,e=>St(n,e,!1)),Og=n=>{let e=!ue(n);return Fe(n,e,t=>St(n,t,e))},Dg=n=>{let e=ue(n);return Fe(n,e,t=>St(n,
t,e))},Pg=n=>Fe(n,!1,e=>y.cursor(n.lineBlockAt(e.head).from)),Rg=n=>Fe(n,!0,e=>y.cursor(n.lineBlockAt(e.head).
to)),cf=({state:n,dispatch:e})=>(e(Ue(n,{anchor:0})),!0),ff=({state:n,dispatch:e})=>(e(Ue(n,{anchor:n.doc.length})),
!0),uf=({state:n,dispatch:e})=>(e(Ue(n,{anchor:n.selection.main.anchor,head:0})),!0),df=({state:n,dispatch:e})=>(e(
Ue(n,{anchor:n.selection.main.anchor,head:n.doc.length})),!0),Bg=({state:n,dispatch:e})=>(e(n.update({selection:{
anchor:0,head:n.doc.length},userEvent:"select"})),!0),Lg=({state:n,dispatch:e})=>{let t=Bs(n).map(({from:i,to:s})=>y.
undirectionalRange(i,Math.min(s+1,n.doc.length)));return e(n.update({selection:y.create(t),userEvent:"select"})),
!0},Eg=({state:n,dispatch:e})=>{let t=Si(n.selection,i=>{let s=le(n),r=s.resolveStack(i.from,1);if(i.empty){let o=s.
resolveStack(i.from,-1);o.node.from>=r.node.from&&o.node.to<=r.node.to&&(r=o)}for(let o=r;o;o=o.next){let{node:l}=o;
if((l.from<i.from&&l.to>=i.to||l.to>i.to&&l.from<=i.from)&&o.next)return y.undirectionalRange(l.from,l.to)}return i});
return t.eq(n.selection)?!1:(e(Ue(n,t)),!0)};function Vf(n,e){let{state:t}=n,i=t.selection,s=t.selection.ranges.
slice();for(let r of t.selection.ranges){let o=t.doc.lineAt(r.head);if(e?o.to<n.state.doc.length:o.from>0)for(let l=r;;){
let a=n.moveVertically(l,e);if(a.head<o.from||a.head>o.to){s.some(h=>h.head==a.head)||s.push(a);break}else{if(a.
head==l.head)break;l=a}}}return s.length==i.ranges.length?!1:(n.dispatch(Ue(t,y.create(s,s.length-1))),!0)}var Ig=n=>Vf(
n,!1),Ng=n=>Vf(n,!0),Fg=({state:n,dispatch:e})=>{let t=n.selection,i=null;return t.ranges.length>1?i=y.create(
[t.main]):t.main.empty||(i=y.create([y.cursor(t.main.head)])),i?(e(Ue(n,i)),!0):!1};function cn(n,e){if(n.state.
readOnly)return!1;let t="delete.selection",{state:i}=n,s=i.changeByRange(r=>{let{from:o,to:l}=r;if(o==l){let a=e(
r);a<o?(t="delete.backward",a=Ts(n,a,!1)):a>o&&(t="delete.forward",a=Ts(n,a,!0)),o=Math.min(o,a),l=Math.max(l,
a)}else o=Ts(n,o,!1),l=Ts(n,l,!0);return o==l?{range:r}:{changes:{from:o,to:l},range:y.cursor(o,o<r.head?-1:1)}});
return s.changes.empty?!1:(n.dispatch(i.update(s,{scrollIntoView:!0,userEvent:t,effects:t=="delete.selection"?
O.announce.of(i.phrase("Selection deleted")):void 0})),!0)}function Ts(n,e,t){if(n instanceof O)for(let i of n.
state.facet(O.atomicRanges).map(s=>s(n)))i.between(e,e,(s,r)=>{s<e&&r>e&&(e=t?r:s)});return e}var zf=(n,e,t)=>cn(
n,i=>{let s=i.from,{state:r}=n,o=r.doc.lineAt(s),l,a;if(t&&!e&&s>o.from&&s<o.from+200&&!/[^ \t]/.test(l=o.text.
slice(0,s-o.from))){if(l[l.length-1]=="	")return s-1;let h=pt(l,r.tabSize),c=h%on(r)||on(r);for(let f=0;f<c&&l[l.
length-1-f]==" ";f++)s--;a=s}else a=Z(o.text,s-o.from,e,e)+o.from,a==s&&o.number!=(e?r.doc.lines:1)?a+=e?1:-1:
!e&&/[\ufe00-\ufe0f]/.test(o.text.slice(a-o.from,s-o.from))&&(a=Z(o.text,a-o.from,!1,!1)+o.from);return a}),ml=n=>zf(
n,!1,!0);var qf=n=>zf(n,!0,!1),$f=(n,e)=>cn(n,t=>{let i=t.head,{state:s}=n,r=s.doc.lineAt(i),o=s.charCategorizer(i);for(let l=null;;){
if(i==(e?r.to:r.from)){i==t.head&&r.number!=(e?s.doc.lines:1)&&(i+=e?1:-1);break}let a=Z(r.text,i-r.from,e)+r.
from,h=r.text.slice(Math.min(i,a)-r.from,Math.max(i,a)-r.from),c=o(h);if(l!=null&&c!=l)break;(h!=" "||i!=t.head)&&
(l=c),i=a}return i}),Kf=n=>$f(n,!1),Wg=n=>$f(n,!0);var Hg=n=>cn(n,e=>{let t=n.lineBlockAt(e.head).to;return e.head<t?t:Math.min(n.state.doc.length,e.head+1)});var Vg=n=>cn(n,e=>{let t=n.moveToLineBoundary(e,!1).head;return e.head>t?t:Math.max(0,e.head-1)}),zg=n=>cn(n,e=>{
let t=n.moveToLineBoundary(e,!0).head;return e.head<t?t:Math.min(n.state.doc.length,e.head+1)});var qg=({state:n,dispatch:e})=>{if(n.readOnly)return!1;let t=n.changeByRange(i=>({changes:{from:i.from,to:i.to,
insert:F.of(["",""])},range:y.cursor(i.from)}));return e(n.update(t,{scrollIntoView:!0,userEvent:"input"})),!0},
$g=({state:n,dispatch:e})=>{if(n.readOnly)return!1;let t=n.changeByRange(i=>{if(!i.empty||i.from==0||i.from==n.
doc.length)return{range:i};let s=i.from,r=n.doc.lineAt(s),o=s==r.from?s-1:Z(r.text,s-r.from,!1)+r.from,l=s==r.
to?s+1:Z(r.text,s-r.from,!0)+r.from;return{changes:{from:o,to:l,insert:n.doc.slice(s,l).append(n.doc.slice(o,s))},
range:y.cursor(l)}});return t.changes.empty?!1:(e(n.update(t,{scrollIntoView:!0,userEvent:"move.character"})),
!0)};function Bs(n){let e=[],t=-1;for(let i of n.selection.ranges){let s=n.doc.lineAt(i.from),r=n.doc.lineAt(i.
to);if(!i.empty&&i.to==r.from&&(r=n.doc.lineAt(i.to-1)),t>=s.number){let o=e[e.length-1];o.to=r.to,o.ranges.push(
i)}else e.push({from:s.from,to:r.to,ranges:[i]});t=r.number+1}return e}function jf(n,e,t){if(n.readOnly)return!1;
let i=[],s=[];for(let r of Bs(n)){if(t?r.to==n.doc.length:r.from==0)continue;let o=n.doc.lineAt(t?r.to+1:r.from-
1),l=o.length+1;if(t){i.push({from:r.to,to:o.to},{from:r.from,insert:o.text+n.lineBreak});for(let a of r.ranges)
s.push(y.range(Math.min(n.doc.length,a.anchor+l),Math.min(n.doc.length,a.head+l)))}else{i.push({from:o.from,to:r.
from},{from:r.to,insert:n.lineBreak+o.text});for(let a of r.ranges)s.push(y.range(a.anchor-l,a.head-l))}}return i.
length?(e(n.update({changes:i,scrollIntoView:!0,selection:y.create(s,n.selection.mainIndex),userEvent:"move.li\
ne"})),!0):!1}var Kg=({state:n,dispatch:e})=>jf(n,e,!1),jg=({state:n,dispatch:e})=>jf(n,e,!0);function Uf(n,e,t){
if(n.readOnly)return!1;let i=[];for(let r of Bs(n))t?i.push({from:r.from,insert:n.doc.slice(r.from,r.to)+n.lineBreak}):
i.push({from:r.to,insert:n.lineBreak+n.doc.slice(r.from,r.to)});let s=n.changes(i);return e(n.update({changes:s,
selection:n.selection.map(s,t?1:-1),scrollIntoView:!0,userEvent:"input.copyline"})),!0}var Ug=({state:n,dispatch:e})=>Uf(
n,e,!1),Gg=({state:n,dispatch:e})=>Uf(n,e,!0),_g=n=>{if(n.state.readOnly)return!1;let{state:e}=n,t=e.changes(Bs(
e).map(({from:s,to:r})=>(s>0?s--:r<e.doc.length&&r++,{from:s,to:r}))),i=Si(e.selection,s=>{let r;if(n.lineWrapping){
let o=n.lineBlockAt(s.head),l=n.coordsAtPos(s.head,s.assoc||1);l&&(r=o.bottom+n.documentTop-l.bottom+n.defaultLineHeight/
2)}return n.moveVertically(s,!0,r)}).map(t);return n.dispatch({changes:t,selection:i,scrollIntoView:!0,userEvent:"\
delete.line"}),!0};function Yg(n,e){if(/\(\)|\[\]|\{\}/.test(n.sliceDoc(e-1,e+1)))return{from:e,to:e};let t=le(n).resolveInner(e),
i=t.childBefore(e),s=t.childAfter(e),r;return i&&s&&i.to<=e&&s.from>=e&&(r=i.type.prop(L.closedBy))&&r.indexOf(
s.name)>-1&&n.doc.lineAt(i.to).from==n.doc.lineAt(s.from).from&&!/\S/.test(n.sliceDoc(i.to,s.from))?{from:i.to,
to:s.from}:null}var pf=Gf(!1),Xg=Gf(!0);function Gf(n){return({state:e,dispatch:t})=>{if(e.readOnly)return!1;let i=e.
changeByRange(s=>{let{from:r,to:o}=s,l=e.doc.lineAt(r),a=!n&&r==o&&Yg(e,r);n&&(r=o=(o<=l.to?l:e.doc.lineAt(o)).
to);let h=new $t(e,{simulateBreak:r,simulateDoubleBreak:!!a}),c=Cs(h,r);for(c==null&&(c=pt(/^\s*/.exec(e.doc.lineAt(
r).text)[0],e.tabSize));o<l.to&&/\s/.test(l.text[o-l.from]);)o++;a?{from:r,to:o}=a:r>l.from&&r<l.from+100&&!/\S/.
test(l.text.slice(0,r))&&(r=l.from);let f=["",vi(e,c)];return a&&f.push(vi(e,h.lineIndent(l.from,-1))),{changes:{
from:r,to:o,insert:F.of(f)},range:y.cursor(r+1+f[1].length)}});return t(e.update(i,{scrollIntoView:!0,userEvent:"\
input"})),!0}}function yl(n,e){let t=-1;return n.changeByRange(i=>{let s=[];for(let o=i.from;o<=i.to;){let l=n.
doc.lineAt(o);l.number>t&&(i.empty||i.to>l.from)&&(e(l,s,i),t=l.number),o=l.to+1}let r=n.changes(s);return{changes:s,
range:y.range(r.mapPos(i.anchor,1),r.mapPos(i.head,1))}})}var Qg=({state:n,dispatch:e})=>{if(n.readOnly)return!1;
let t=Object.create(null),i=new $t(n,{overrideIndentation:r=>{let o=t[r];return o??-1}}),s=yl(n,(r,o,l)=>{let a=Cs(
i,r.from);if(a==null)return;/\S/.test(r.text)||(a=0);let h=/^\s*/.exec(r.text)[0],c=vi(n,a);(h!=c||l.from<r.from+
h.length)&&(t[r.from]=a,o.push({from:r.from,to:r.from+h.length,insert:c}))});return s.changes.empty||e(n.update(
s,{userEvent:"indent"})),!0},Jg=({state:n,dispatch:e})=>n.readOnly?!1:(e(n.update(yl(n,(t,i)=>{i.push({from:t.
from,insert:n.facet(jt)})}),{userEvent:"input.indent"})),!0),Zg=({state:n,dispatch:e})=>n.readOnly?!1:(e(n.update(
yl(n,(t,i)=>{let s=/^\s*/.exec(t.text)[0];if(!s)return;let r=pt(s,n.tabSize),o=0,l=vi(n,Math.max(0,r-on(n)));for(;o<
s.length&&o<l.length&&s.charCodeAt(o)==l.charCodeAt(o);)o++;i.push({from:t.from+o,to:t.from+s.length,insert:l.
slice(o)})}),{userEvent:"delete.dedent"})),!0),e0=n=>(n.setTabFocusMode(),!0);var t0=[{key:"Ctrl-b",run:Cf,shift:Lf,preventDefault:!0},{key:"Ctrl-f",run:Af,shift:Ef},{key:"Ctrl-p",run:Of,shift:Ff},
{key:"Ctrl-n",run:Df,shift:Wf},{key:"Ctrl-a",run:yg,shift:Pg},{key:"Ctrl-e",run:xg,shift:Rg},{key:"Ctrl-d",run:qf},
{key:"Ctrl-h",run:ml},{key:"Ctrl-k",run:Hg},{key:"Ctrl-Alt-h",run:Kf},{key:"Ctrl-o",run:qg},{key:"Ctrl-t",run:$g},
{key:"Ctrl-v",run:pl}],i0=[{key:"ArrowLeft",run:Cf,shift:Lf,preventDefault:!0},{key:"Mod-ArrowLeft",mac:"Alt-A\
rrowLeft",run:hg,shift:vg,preventDefault:!0},{mac:"Cmd-ArrowLeft",run:gg,shift:Og,preventDefault:!0},{key:"Arr\
owRight",run:Af,shift:Ef,preventDefault:!0},{key:"Mod-ArrowRight",mac:"Alt-ArrowRight",run:cg,shift:Sg,preventDefault:!0},
{mac:"Cmd-ArrowRight",run:bg,shift:Dg,preventDefault:!0},{key:"ArrowUp",run:Of,shift:Ff,preventDefault:!0},{mac:"\
Cmd-ArrowUp",run:cf,shift:uf},{mac:"Ctrl-ArrowUp",run:lf,shift:af},{key:"ArrowDown",run:Df,shift:Wf,preventDefault:!0},
{mac:"Cmd-ArrowDown",run:ff,shift:df},{mac:"Ctrl-ArrowDown",run:pl,shift:hf},{key:"PageUp",run:lf,shift:af},{key:"\
PageDown",run:pl,shift:hf},{key:"Home",run:mg,shift:Tg,preventDefault:!0},{key:"Mod-Home",run:cf,shift:uf},{key:"\
End",run:pg,shift:Mg,preventDefault:!0},{key:"Mod-End",run:ff,shift:df},{key:"Enter",run:pf,shift:pf},{key:"Mo\
d-a",run:Bg},{key:"Backspace",run:ml,shift:ml,preventDefault:!0},{key:"Delete",run:qf,preventDefault:!0},{key:"\
Mod-Backspace",mac:"Alt-Backspace",run:Kf,preventDefault:!0},{key:"Mod-Delete",mac:"Alt-Delete",run:Wg,preventDefault:!0},
{mac:"Mod-Backspace",run:Vg,preventDefault:!0},{mac:"Mod-Delete",run:zg,preventDefault:!0}].concat(t0.map(n=>({
mac:n.key,run:n.run,shift:n.shift}))),_f=[{key:"Alt-ArrowLeft",mac:"Ctrl-ArrowLeft",run:ug,shift:Cg},{key:"Alt\
-ArrowRight",mac:"Ctrl-ArrowRight",run:dg,shift:Ag},{key:"Alt-ArrowUp",run:Kg},{key:"Shift-Alt-ArrowUp",run:Ug},
{key:"Alt-ArrowDown",run:jg},{key:"Shift-Alt-ArrowDown",run:Gg},{key:"Mod-Alt-ArrowUp",run:Ig},{key:"Mod-Alt-A\
rrowDown",run:Ng},{key:"Escape",run:Fg},{key:"Mod-Enter",run:Xg},{key:"Alt-l",mac:"Ctrl-l",run:Lg},{key:"Mod-i",
run:Eg,preventDefault:!0},{key:"Mod-[",run:Zg},{key:"Mod-]",run:Jg},{key:"Mod-Alt-\\",run:Qg},{key:"Shift-Mod-\
k",run:_g},{key:"Shift-Mod-\\",run:kg},{key:"Mod-/",run:Um},{key:"Alt-A",mac:"Ctrl-A",run:_m},{key:"Ctrl-m",mac:"\
Shift-Alt-m",run:e0}].concat(i0);var wl=class n{constructor(e,t,i,s,r,o,l,a,h,c=0,f){this.p=e,this.stack=t,this.state=i,this.reducePos=s,this.pos=
r,this.score=o,this.buffer=l,this.bufferBase=a,this.curContext=h,this.lookAhead=c,this.parent=f}toString(){return`\
[${this.stack.filter((e,t)=>t%3==0).concat(this.state)}]@${this.pos}${this.score?"!"+this.score:""}`}static start(e,t,i=0){
let s=e.parser.context;return new n(e,[],t,i,i,0,[],0,s?new Ls(s,s.start):null,0,null)}get context(){return this.
curContext?this.curContext.context:null}pushState(e,t){this.stack.push(this.state,t,this.bufferBase+this.buffer.
length),this.state=e}reduce(e){var t;let i=e>>19,s=e&65535,{parser:r}=this.p,o=this.reducePos<this.pos-25&&this.
setLookAhead(this.pos),l=r.dynamicPrecedence(s);if(l&&(this.score+=l),i==0){s<r.minRepeatTerm&&this.reducePos<
this.pos&&(this.reducePos=this.pos),this.pushState(r.getGoto(this.state,s,!0),this.reducePos),s<r.minRepeatTerm&&
this.storeNode(s,this.reducePos,this.reducePos,o?8:4,!0),this.reduceContext(s,this.reducePos);return}let a=this.
stack.length-(i-1)*3-(e&262144?6:0),h=a?this.stack[a-2]:this.p.ranges[0].from;s<r.minRepeatTerm&&h==this.reducePos&&
this.reducePos<this.pos&&(this.reducePos=this.pos);let c=this.reducePos-h;c>=2e3&&!(!((t=this.p.parser.nodeSet.
types[s])===null||t===void 0)&&t.isAnonymous)&&(h==this.p.lastBigReductionStart?(this.p.bigReductionCount++,this.
p.lastBigReductionSize=c):this.p.lastBigReductionSize<c&&(this.p.bigReductionCount=1,this.p.lastBigReductionStart=
h,this.p.lastBigReductionSize=c));let f=a?this.stack[a-1]:0,u=this.bufferBase+this.buffer.length-f;if(s<r.minRepeatTerm||
e&131072){let d=r.stateFlag(this.state,1)?this.pos:this.reducePos;this.storeNode(s,h,d,u+4,!0)}if(e&262144)this.
state=this.stack[a];else{let d=this.stack[a-3];this.state=r.getGoto(d,s,!0)}for(;this.stack.length>a;)this.stack.
pop();this.reduceContext(s,h)}storeNode(e,t,i,s=4,r=!1){if(e==0&&(!this.stack.length||this.stack[this.stack.length-
1]<this.buffer.length+this.bufferBase)){let o=this.buffer.length;if(o>0&&this.buffer[o-4]==0&&this.buffer[o-1]>
-1){if(t==i)return;if(this.buffer[o-2]>=t){this.buffer[o-2]=i;return}}}if(!r||this.pos==i)this.buffer.push(e,t,
i,s);else{let o=this.buffer.length;if(o>0&&(this.buffer[o-4]!=0||this.buffer[o-1]<0)){let l=!1;for(let a=o;a>0&&
this.buffer[a-2]>i;a-=4)if(this.buffer[a-1]>=0){l=!0;break}if(l)for(;o>0&&this.buffer[o-2]>i;)this.buffer[o]=this.
buffer[o-4],this.buffer[o+1]=this.buffer[o-3],this.buffer[o+2]=this.buffer[o-2],this.buffer[o+3]=this.buffer[o-
1],o-=4,s>4&&(s-=4)}this.buffer[o]=e,this.buffer[o+1]=t,this.buffer[o+2]=i,this.buffer[o+3]=s}}shift(e,t,i,s){
if(e&131072)this.pushState(e&65535,this.pos);else if((e&262144)==0){let r=e,{parser:o}=this.p;this.pos=s;let l=o.
stateFlag(r,1);!l&&(s>i||t<=o.maxNode)&&(this.reducePos=s),this.pushState(r,l?i:Math.min(i,this.reducePos)),this.
shiftContext(t,i),t<=o.maxNode&&this.buffer.push(t,i,s,4)}else this.pos=s,this.shiftContext(t,i),t<=this.p.parser.
maxNode&&this.buffer.push(t,i,s,4)}apply(e,t,i,s){e&65536?this.reduce(e):this.shift(e,t,i,s)}useNode(e,t,i){let s=this.
p.reused.length-1;(s<0||this.p.reused[s]!=e)&&(this.p.reused.push(e),s++);let r=this.reducePos=this.pos=i+e.length;
this.pushState(t,i),this.buffer.push(s,i,r,-1),this.curContext&&this.updateContext(this.curContext.tracker.reuse(
this.curContext.context,e,this,this.p.stream.reset(this.pos-e.length)))}split(){let e=this,t=e.buffer.length;for(t&&
e.buffer[t-4]==0&&(t-=4);t>0&&e.buffer[t-2]>e.reducePos;)t-=4;let i=e.buffer.slice(t),s=e.bufferBase+t;for(;e&&
s==e.bufferBase;)e=e.parent;return new n(this.p,this.stack.slice(),this.state,this.reducePos,this.pos,this.score,
i,s,this.curContext,this.lookAhead,e)}recoverByDelete(e,t){let i=e<=this.p.parser.maxNode;i&&this.storeNode(e,
this.pos,t,4),this.storeNode(0,this.pos,t,i?8:4),this.pos=this.reducePos=t,this.score-=190}canShift(e){for(let t=new kl(
this);;){let i=this.p.parser.stateSlot(t.state,4)||this.p.parser.hasAction(t.state,e);if(i==0)return!1;if((i&65536)==
0)return!0;t.reduce(i)}}recoverByInsert(e){if(this.stack.length>=300)return[];let t=this.p.parser.nextStates(this.
state);if(t.length>8||this.stack.length>=120){let s=[];for(let r=0,o;r<t.length;r+=2)(o=t[r+1])!=this.state&&this.
p.parser.hasAction(o,e)&&s.push(t[r],o);if(this.stack.length<120)for(let r=0;s.length<8&&r<t.length;r+=2){let o=t[r+
1];s.some((l,a)=>a&1&&l==o)||s.push(t[r],o)}t=s}let i=[];for(let s=0;s<t.length&&i.length<4;s+=2){let r=t[s+1];
if(r==this.state)continue;let o=this.split();o.pushState(r,this.pos),o.storeNode(0,o.pos,o.pos,4,!0),o.shiftContext(
t[s],this.pos),o.reducePos=this.pos,o.score-=200,i.push(o)}return i}forceReduce(){let{parser:e}=this.p,t=e.stateSlot(
this.state,5);if((t&65536)==0)return!1;if(!e.validAction(this.state,t)){let i=t>>19,s=t&65535,r=this.stack.length-
i*3;if(r<0||e.getGoto(this.stack[r],s,!1)<0){let o=this.findForcedReduction();if(o==null)return!1;t=o}this.storeNode(
0,this.pos,this.pos,4,!0),this.score-=100}return this.reducePos=this.pos,this.reduce(t),!0}findForcedReduction(){
let{parser:e}=this.p,t=[],i=(s,r)=>{if(!t.includes(s))return t.push(s),e.allActions(s,o=>{if(!(o&393216))if(o&
65536){let l=(o>>19)-r;if(l>1){let a=o&65535,h=this.stack.length-l*3;if(h>=0&&e.getGoto(this.stack[h],a,!1)>=0)
return l<<19|65536|a}}else{let l=i(o,r+1);if(l!=null)return l}})};return i(this.state,0)}forceAll(){for(;!this.
p.parser.stateFlag(this.state,2);)if(!this.forceReduce()){this.storeNode(0,this.pos,this.pos,4,!0);break}return this}get deadEnd(){
if(this.stack.length!=3)return!1;let{parser:e}=this.p;return e.data[e.stateSlot(this.state,1)]==65535&&!e.stateSlot(
this.state,4)}restart(){this.storeNode(0,this.pos,this.pos,4,!0),this.state=this.stack[0],this.stack.length=0}sameState(e){
if(this.state!=e.state||this.stack.length!=e.stack.length)return!1;for(let t=0;t<this.stack.length;t+=3)if(this.
stack[t]!=e.stack[t])return!1;return!0}get parser(){return this.p.parser}dialectEnabled(e){return this.p.parser.
dialect.flags[e]}shiftContext(e,t){this.curContext&&this.updateContext(this.curContext.tracker.shift(this.curContext.
context,e,this,this.p.stream.reset(t)))}reduceContext(e,t){this.curContext&&this.updateContext(this.curContext.
tracker.reduce(this.curContext.context,e,this,this.p.stream.reset(t)))}emitContext(){let e=this.buffer.length-
1;(e<0||this.buffer[e]!=-3)&&this.storeNode(this.curContext.hash,this.reducePos,this.reducePos,-3,!0)}emitLookAhead(){
let e=this.buffer.length-1;(e<0||this.buffer[e]!=-4)&&this.buffer.push(this.lookAhead,this.pos,this.pos,-4)}updateContext(e){
if(e!=this.curContext.context){let t=new Ls(this.curContext.tracker,e);t.hash!=this.curContext.hash&&this.emitContext(),
this.curContext=t}}setLookAhead(e){return e<=this.lookAhead?!1:(this.emitLookAhead(),this.lookAhead=e,!0)}close(){
this.curContext&&this.curContext.tracker.strict&&this.emitContext(),this.lookAhead>0&&this.emitLookAhead()}},Ls=class{constructor(e,t){
this.tracker=e,this.context=t,this.hash=e.strict?e.hash(t):0}},kl=class{constructor(e){this.start=e,this.state=
e.state,this.stack=e.stack,this.base=this.stack.length}reduce(e){let t=e&65535,i=e>>19;i==0?(this.stack==this.
start.stack&&(this.stack=this.stack.slice()),this.stack.push(this.state,0,0),this.base+=3):this.base-=(i-1)*3;
let s=this.start.p.parser.getGoto(this.stack[this.base-3],t,!0);this.state=s}},vl=class n{constructor(e,t,i){this.
stack=e,this.pos=t,this.index=i,this.buffer=e.buffer,this.index==0&&this.maybeNext()}static create(e,t=e.bufferBase+
e.buffer.length){return new n(e,t,t-e.bufferBase)}maybeNext(){let e=this.stack.parent;e!=null&&(this.index=this.
stack.bufferBase-e.bufferBase,this.stack=e,this.buffer=e.buffer)}get id(){return this.buffer[this.index-4]}get start(){
return this.buffer[this.index-3]}get end(){return this.buffer[this.index-2]}get size(){return this.buffer[this.
index-1]}next(){this.index-=4,this.pos-=4,this.index==0&&this.maybeNext()}fork(){return new n(this.stack,this.
pos,this.index)}};function fn(n,e=Uint16Array){if(typeof n!="string")return n;let t=null;for(let i=0,s=0;i<n.length;){
let r=0;for(;;){let o=n.charCodeAt(i++),l=!1;if(o==126){r=65535;break}o>=92&&o--,o>=34&&o--;let a=o-32;if(a>=46&&
(a-=46,l=!0),r+=a,l)break;r*=46}t?t[s++]=r:t=new e(r)}return t}var Ci=class{constructor(){this.start=-1,this.value=
-1,this.end=-1,this.extended=-1,this.lookAhead=0,this.mask=0,this.context=0}},Yf=new Ci,Sl=class{constructor(e,t){
this.input=e,this.ranges=t,this.chunk="",this.chunkOff=0,this.chunk2="",this.chunk2Pos=0,this.next=-1,this.token=
Yf,this.rangeIndex=0,this.pos=this.chunkPos=t[0].from,this.range=t[0],this.end=t[t.length-1].to,this.readNext()}resolveOffset(e,t){
let i=this.range,s=this.rangeIndex,r=this.pos+e;for(;r<i.from;){if(!s)return null;let o=this.ranges[--s];r-=i.
from-o.to,i=o}for(;t<0?r>i.to:r>=i.to;){if(s==this.ranges.length-1)return null;let o=this.ranges[++s];r+=o.from-
i.to,i=o}return r}clipPos(e){if(e>=this.range.from&&e<this.range.to)return e;for(let t of this.ranges)if(t.to>
e)return Math.max(e,t.from);return this.end}peek(e){let t=this.chunkOff+e,i,s;if(t>=0&&t<this.chunk.length)i=this.
pos+e,s=this.chunk.charCodeAt(t);else{let r=this.resolveOffset(e,1);if(r==null)return-1;if(i=r,i>=this.chunk2Pos&&
i<this.chunk2Pos+this.chunk2.length)s=this.chunk2.charCodeAt(i-this.chunk2Pos);else{let o=this.rangeIndex,l=this.
range;for(;l.to<=i;)l=this.ranges[++o];this.chunk2=this.input.chunk(this.chunk2Pos=i),i+this.chunk2.length>l.to&&
(this.chunk2=this.chunk2.slice(0,l.to-i)),s=this.chunk2.charCodeAt(0)}}return i>=this.token.lookAhead&&(this.token.
lookAhead=i+1),s}acceptToken(e,t=0){let i=t?this.resolveOffset(t,-1):this.pos;if(i==null||i<this.token.start)throw new RangeError(
"Token end out of bounds");this.token.value=e,this.token.end=i}acceptTokenTo(e,t){this.token.value=e,this.token.
end=t}getChunk(){if(this.pos>=this.chunk2Pos&&this.pos<this.chunk2Pos+this.chunk2.length){let{chunk:e,chunkPos:t}=this;
this.chunk=this.chunk2,this.chunkPos=this.chunk2Pos,this.chunk2=e,this.chunk2Pos=t,this.chunkOff=this.pos-this.
chunkPos}else{this.chunk2=this.chunk,this.chunk2Pos=this.chunkPos;let e=this.input.chunk(this.pos),t=this.pos+
e.length;this.chunk=t>this.range.to?e.slice(0,this.range.to-this.pos):e,this.chunkPos=this.pos,this.chunkOff=0}}readNext(){
return this.chunkOff>=this.chunk.length&&(this.getChunk(),this.chunkOff==this.chunk.length)?this.next=-1:this.
next=this.chunk.charCodeAt(this.chunkOff)}advance(e=1){for(this.chunkOff+=e;this.pos+e>=this.range.to;){if(this.
rangeIndex==this.ranges.length-1)return this.setDone();e-=this.range.to-this.pos,this.range=this.ranges[++this.
rangeIndex],this.pos=this.range.from}return this.pos+=e,this.pos>=this.token.lookAhead&&(this.token.lookAhead=
this.pos+1),this.readNext()}setDone(){return this.pos=this.chunkPos=this.end,this.range=this.ranges[this.rangeIndex=
this.ranges.length-1],this.chunk="",this.next=-1}reset(e,t){if(t?(this.token=t,t.start=e,t.lookAhead=e+1,t.value=
t.extended=-1):this.token=Yf,this.pos!=e){if(this.pos=e,e==this.end)return this.setDone(),this;for(;e<this.range.
from;)this.range=this.ranges[--this.rangeIndex];for(;e>=this.range.to;)this.range=this.ranges[++this.rangeIndex];
e>=this.chunkPos&&e<this.chunkPos+this.chunk.length?this.chunkOff=e-this.chunkPos:(this.chunk="",this.chunkOff=
0),this.readNext()}return this}read(e,t){if(e>=this.chunkPos&&t<=this.chunkPos+this.chunk.length)return this.chunk.
slice(e-this.chunkPos,t-this.chunkPos);if(e>=this.chunk2Pos&&t<=this.chunk2Pos+this.chunk2.length)return this.
chunk2.slice(e-this.chunk2Pos,t-this.chunk2Pos);if(e>=this.range.from&&t<=this.range.to)return this.input.read(
e,t);let i="";for(let s of this.ranges){if(s.from>=t)break;s.to>e&&(i+=this.input.read(Math.max(s.from,e),Math.
min(s.to,t)))}return i}},Ct=class{constructor(e,t){this.data=e,this.id=t}token(e,t){let{parser:i}=t.p;eu(this.
data,e,t,this.id,i.data,i.tokenPrecTable)}};Ct.prototype.contextual=Ct.prototype.fallback=Ct.prototype.extend=
!1;var Cl=class{constructor(e,t,i){this.precTable=t,this.elseToken=i,this.data=typeof e=="string"?fn(e):e}token(e,t){
let i=e.pos,s=0;for(;;){let r=e.next<0,o=e.resolveOffset(1,1);if(eu(this.data,e,t,0,this.data,this.precTable),
e.token.value>-1)break;if(this.elseToken==null)return;if(r||s++,o==null)break;e.reset(o,e.token)}s&&(e.reset(i,
e.token),e.acceptToken(this.elseToken,s))}};Cl.prototype.contextual=Ct.prototype.fallback=Ct.prototype.extend=
!1;function eu(n,e,t,i,s,r){let o=0,l=1<<i,{dialect:a}=t.p.parser;e:for(;(l&n[o])!=0;){let h=n[o+1];for(let d=o+3;d<
h;d+=2)if((n[d+1]&l)>0){let p=n[d];if(a.allows(p)&&(e.token.value==-1||e.token.value==p||s0(p,e.token.value,s,
r))){e.acceptToken(p);break}}let c=e.next,f=0,u=n[o+2];if(e.next<0&&u>f&&n[h+u*3-3]==65535){o=n[h+u*3-1];continue e}
for(;f<u;){let d=f+u>>1,p=h+d+(d<<1),m=n[p],g=n[p+1]||65536;if(c<m)u=d;else if(c>=g)f=d+1;else{o=n[p+2],e.advance();
continue e}}break}}function Xf(n,e,t){for(let i=e,s;(s=n[i])!=65535;i++)if(s==t)return i-e;return-1}function s0(n,e,t,i){
let s=Xf(t,i,e);return s<0||Xf(t,i,n)<s}var Te=typeof process<"u"&&process.env&&/\bparse\b/.test(process.env.LOG),
xl=null;function Qf(n,e,t){let i=n.cursor(X.IncludeAnonymous);for(i.moveTo(e);;)if(!(t<0?i.childBefore(e):i.childAfter(
e)))for(;;){if((t<0?i.to<e:i.from>e)&&!i.type.isError)return t<0?Math.max(0,Math.min(i.to-1,e-25)):Math.min(n.
length,Math.max(i.from+1,e+25));if(t<0?i.prevSibling():i.nextSibling())break;if(!i.parent())return t<0?0:n.length}}
var Al=class{constructor(e,t){this.fragments=e,this.minRepeat=t,this.i=0,this.fragment=null,this.safeFrom=-1,this.
safeTo=-1,this.trees=[],this.start=[],this.index=[],this.lastRepeat=null,this.lastRepeatPos=-1,this.nextFragment()}nextFragment(){
let e=this.fragment=this.i==this.fragments.length?null:this.fragments[this.i++];if(e){for(this.safeFrom=e.openStart?
Qf(e.tree,e.from+e.offset,1)-e.offset:e.from,this.safeTo=e.openEnd?Qf(e.tree,e.to+e.offset,-1)-e.offset:e.to;this.
trees.length;)this.trees.pop(),this.start.pop(),this.index.pop();this.trees.push(e.tree),this.start.push(-e.offset),
this.index.push(0),this.nextStart=this.safeFrom}else this.nextStart=1e9}nodeAt(e){if(e<this.nextStart)return null;
for(;this.fragment&&this.safeTo<=e;)this.nextFragment();if(!this.fragment)return null;for(;;){let t=this.trees.
length-1;if(t<0)return this.nextFragment(),null;if(e<this.safeFrom)return null;let i=this.trees[t],s=this.index[t];
if(s==i.children.length){this.trees.pop(),this.start.pop(),this.index.pop();continue}let r=i.children[s],o=this.
start[t]+i.positions[s];if(o>e)return this.nextStart=o,null;if(r instanceof ee){let l=o>this.lastRepeatPos&&r.
type.id>=this.minRepeat;if(o==e||l){let a=o+r.length,h;if(o>=this.safeFrom&&a<=this.safeTo&&(!(h=r.prop(L.lookAhead))||
a+h<this.fragment.to)&&(l&&(this.lastRepeat=r,this.lastRepeatPos=o),o==e))return r}this.index[t]++,o+r.length>=
Math.max(this.safeFrom,e)&&(this.trees.push(r),this.start.push(o),this.index.push(0))}else this.index[t]++,this.
nextStart=o+r.length}}},Ml=class{constructor(e,t){this.stream=t,this.tokens=[],this.mainToken=null,this.actions=
[],this.tokens=e.tokenizers.map(i=>new Ci)}getActions(e){let t=0,i=null,{parser:s}=e.p,{tokenizers:r}=s,o=s.stateSlot(
e.state,3),l=e.curContext?e.curContext.hash:0,a=0;for(let h=0;h<r.length;h++){if((1<<h&o)==0)continue;let c=r[h],
f=this.tokens[h];if(!(i&&!c.fallback)&&((c.contextual||f.start!=e.pos||f.mask!=o||f.context!=l)&&(this.updateCachedToken(
f,c,e),f.mask=o,f.context=l),f.lookAhead>f.end+25&&(a=Math.max(f.lookAhead,a)),f.value!=0)){let u=t;if(f.extended>
-1&&(t=this.addActions(e,f.extended,f.end,t)),t=this.addActions(e,f.value,f.end,t),!c.extend&&(i=f,t>u))break}}
for(;this.actions.length>t;)this.actions.pop();return a&&e.setLookAhead(a),!i&&e.pos==this.stream.end&&(i=new Ci,
i.value=e.p.parser.eofTerm,i.start=i.end=e.pos,t=this.addActions(e,i.value,i.end,t)),this.mainToken=i,this.actions}getMainToken(e){
if(this.mainToken)return this.mainToken;let t=new Ci,{pos:i,p:s}=e;return t.start=i,t.end=Math.min(i+1,s.stream.
end),t.value=i==s.stream.end?s.parser.eofTerm:0,t}updateCachedToken(e,t,i){let s=this.stream.clipPos(i.pos);if(t.
token(this.stream.reset(s,e),i),e.value>-1){let{parser:r}=i.p;for(let o=0;o<r.specialized.length;o++)if(r.specialized[o]==
e.value){let l=r.specializers[o](this.stream.read(e.start,e.end),i);if(l>=0&&i.p.parser.dialect.allows(l>>1)){
(l&1)==0?e.value=l>>1:e.extended=l>>1;break}}}else e.value=0,e.end=this.stream.clipPos(s+1)}putAction(e,t,i,s){
for(let r=0;r<s;r+=3)if(this.actions[r]==e)return s;return this.actions[s++]=e,this.actions[s++]=t,this.actions[s++]=
i,s}addActions(e,t,i,s){let{state:r}=e,{parser:o}=e.p,{data:l}=o;for(let a=0;a<2;a++)for(let h=o.stateSlot(r,a?
2:1);;h+=3){if(l[h]==65535)if(l[h+1]==1)h=ft(l,h+2);else{s==0&&l[h+1]==2&&(s=this.putAction(ft(l,h+2),t,i,s));
break}l[h]==t&&(s=this.putAction(ft(l,h+1),t,i,s))}return s}},Tl=class{constructor(e,t,i,s){this.parser=e,this.
input=t,this.ranges=s,this.recovering=0,this.nextStackID=9812,this.minStackPos=0,this.reused=[],this.stoppedAt=
null,this.lastBigReductionStart=-1,this.lastBigReductionSize=0,this.bigReductionCount=0,this.stream=new Sl(t,s),
this.tokens=new Ml(e,this.stream),this.topTerm=e.top[1];let{from:r}=s[0];this.stacks=[wl.start(this,e.top[0],r)],
this.fragments=i.length&&this.stream.end-r>e.bufferLength*4?new Al(i,e.minRepeatTerm):null}get parsedPos(){return this.
minStackPos}advance(){let e=this.stacks,t=this.minStackPos,i=this.stacks=[],s,r;if(this.bigReductionCount>300&&
e.length==1){let[o]=e;for(;o.forceReduce()&&o.stack.length&&o.stack[o.stack.length-2]>=this.lastBigReductionStart;)
;this.bigReductionCount=this.lastBigReductionSize=0}for(let o=0;o<e.length;o++){let l=e[o];for(;;){if(this.tokens.
mainToken=null,l.pos>t)i.push(l);else{if(this.advanceStack(l,i,e))continue;{s||(s=[],r=[]),s.push(l);let a=this.
tokens.getMainToken(l);r.push(a.value,a.end)}}break}}if(!i.length){let o=s&&r0(s);if(o)return Te&&console.log(
"Finish with "+this.stackID(o)),this.stackToTree(o);if(this.parser.strict)throw Te&&s&&console.log("Stuck with\
 token "+(this.tokens.mainToken?this.parser.getName(this.tokens.mainToken.value):"none")),new SyntaxError("No \
parse at "+t);this.recovering||(this.recovering=5)}if(this.recovering&&s){let o=this.stoppedAt!=null&&s[0].pos>
this.stoppedAt?s[0]:this.runRecovery(s,r,i);if(o)return Te&&console.log("Force-finish "+this.stackID(o)),this.
stackToTree(o.forceAll())}if(this.recovering){let o=this.recovering==1?1:this.recovering*3;if(i.length>o)for(i.
sort((l,a)=>a.score-l.score);i.length>o;)i.pop();i.some(l=>l.reducePos>t)&&this.recovering--}else if(i.length>
1){e:for(let o=0;o<i.length-1;o++){let l=i[o];for(let a=o+1;a<i.length;a++){let h=i[a];if(l.sameState(h)||l.buffer.
length>500&&h.buffer.length>500)if((l.score-h.score||l.buffer.length-h.buffer.length)>0)i.splice(a--,1);else{i.
splice(o--,1);continue e}}}i.length>12&&(i.sort((o,l)=>l.score-o.score),i.splice(12,i.length-12))}this.minStackPos=
i[0].pos;for(let o=1;o<i.length;o++)i[o].pos<this.minStackPos&&(this.minStackPos=i[o].pos);return null}stopAt(e){
if(this.stoppedAt!=null&&this.stoppedAt<e)throw new RangeError("Can't move stoppedAt forward");this.stoppedAt=
e}tryReuse(e,t,i,s){if(!i)return null;let r=e.curContext&&e.curContext.tracker.strict,o=r?e.curContext.hash:0;
for(;i;){let l=this.parser.nodeSet.types[i.type.id]!=i.type?-1:this.parser.getGoto(e.state,i.type.id);if(l>-1&&
i.length&&(!r||(i.prop(L.contextHash)||0)==o))return e.useNode(i,l,t),i;if(i.children.length==0||i.positions[0]>
0)break;let a=i.children[0];if(a instanceof ee&&(!s||a.type.id>=this.parser.minRepeatTerm))i=a;else break}return null}advanceStack(e,t,i){
let s=e.pos,{parser:r}=this,o=Te?this.stackID(e)+" -> ":"";if(this.stoppedAt!=null&&s>this.stoppedAt)return e.
forceReduce()?e:null;if(this.fragments){let h=e.reducePos<s&&e.buffer.length&&e.buffer[e.buffer.length-2]<=e.reducePos&&
this.fragments.lastRepeatPos==e.reducePos&&this.tryReuse(e,e.reducePos,this.fragments.lastRepeat,!0)||this.tryReuse(
e,s,this.fragments.nodeAt(s),!1);if(h)return Te&&console.log(o+this.stackID(e)+` (via reuse of ${r.getName(h.type.
id)})`),!0}let l=r.stateSlot(e.state,4);if(l>0)return e.reduce(l),Te&&console.log(o+this.stackID(e)+` (via alw\
ays-reduce ${r.getName(l&65535)})`),!0;if(e.stack.length>=8400)for(;e.stack.length>6e3&&e.forceReduce(););let a=this.
tokens.getActions(e);for(let h=0;h<a.length;){let c=a[h++],f=a[h++],u=a[h++],d=h==a.length||!i,p=d?e:e.split(),
m=this.tokens.mainToken;if(p.apply(c,f,m?m.start:p.pos,u),Te&&console.log(o+this.stackID(p)+` (via ${(c&65536)==
0?"shift":`reduce of ${r.getName(c&65535)}`} for ${r.getName(f)} @ ${s}${p==e?"":", split"})`),d)return!0;p.pos>
s?t.push(p):i.push(p)}return!1}advanceFully(e,t){let i=e.pos;for(;;){if(!this.advanceStack(e,null,null))return!1;
if(e.pos>i)return Jf(e,t),!0}}runRecovery(e,t,i){let s=null,r=!1;for(let o=0;o<e.length;o++){let l=e[o],a=t[o<<
1],h=t[(o<<1)+1],c=Te?this.stackID(l)+" -> ":"";if(l.deadEnd&&(r||(r=!0,l.restart(),Te&&console.log(c+this.stackID(
l)+" (restarted)"),this.advanceFully(l,i))))continue;let f=l.split(),u=c;for(let d=0;d<10&&f.forceReduce()&&(Te&&
console.log(u+this.stackID(f)+" (via force-reduce)"),!this.advanceFully(f,i));d++)Te&&(u=this.stackID(f)+" -> ");
for(let d of l.recoverByInsert(a))Te&&console.log(c+this.stackID(d)+" (via recover-insert)"),this.advanceFully(
d,i);this.stream.end>l.pos?(h==l.pos&&(h++,a=0),l.recoverByDelete(a,h),Te&&console.log(c+this.stackID(l)+` (vi\
a recover-delete ${this.parser.getName(a)})`),Jf(l,i)):(!s||s.score<f.score)&&(s=f)}return s}stackToTree(e){return e.
close(),ee.build({buffer:vl.create(e),nodeSet:this.parser.nodeSet,topID:this.topTerm,maxBufferLength:this.parser.
bufferLength,reused:this.reused,start:this.ranges[0].from,length:e.pos-this.ranges[0].from,minRepeatType:this.
parser.minRepeatTerm})}stackID(e){let t=(xl||(xl=new WeakMap)).get(e);return t||xl.set(e,t=String.fromCodePoint(
this.nextStackID++)),t+e}};function Jf(n,e){for(let t=0;t<e.length;t++){let i=e[t];if(i.pos==n.pos&&i.sameState(
n)){e[t].score<n.score&&(e[t]=n);return}}e.push(n)}var Ol=class{constructor(e,t,i){this.source=e,this.flags=t,
this.disabled=i}allows(e){return!this.disabled||this.disabled[e]==0}};var Es=class n extends xi{constructor(e){if(super(),this.wrappers=[],e.version!=14)throw new RangeError(`Parse\
r version (${e.version}) doesn't match runtime version (14)`);let t=e.nodeNames.split(" ");this.minRepeatTerm=
t.length;for(let l=0;l<e.repeatNodeCount;l++)t.push("");let i=Object.keys(e.topRules).map(l=>e.topRules[l][1]),
s=[];for(let l=0;l<t.length;l++)s.push([]);function r(l,a,h){s[l].push([a,a.deserialize(String(h))])}if(e.nodeProps)
for(let l of e.nodeProps){let a=l[0];typeof a=="string"&&(a=L[a]);for(let h=1;h<l.length;){let c=l[h++];if(c>=
0)r(c,a,l[h++]);else{let f=l[h+-c];for(let u=-c;u>0;u--)r(l[h++],a,f);h++}}}this.nodeSet=new Qi(t.map((l,a)=>fe.
define({name:a>=this.minRepeatTerm?void 0:l,id:a,props:s[a],top:i.indexOf(a)>-1,error:a==0,skipped:e.skippedNodes&&
e.skippedNodes.indexOf(a)>-1}))),e.propSources&&(this.nodeSet=this.nodeSet.extend(...e.propSources)),this.strict=
!1,this.bufferLength=1024;let o=fn(e.tokenData);this.context=e.context,this.specializerSpecs=e.specialized||[],
this.specialized=new Uint16Array(this.specializerSpecs.length);for(let l=0;l<this.specializerSpecs.length;l++)
this.specialized[l]=this.specializerSpecs[l].term;this.specializers=this.specializerSpecs.map(Zf),this.states=
fn(e.states,Uint32Array),this.data=fn(e.stateData),this.goto=fn(e.goto),this.maxTerm=e.maxTerm,this.tokenizers=
e.tokenizers.map(l=>typeof l=="number"?new Ct(o,l):l),this.topRules=e.topRules,this.dialects=e.dialects||{},this.
dynamicPrecedences=e.dynamicPrecedences||null,this.tokenPrecTable=e.tokenPrec,this.termNames=e.termNames||null,
this.maxNode=this.nodeSet.types.length-1,this.dialect=this.parseDialect(),this.top=this.topRules[Object.keys(this.
topRules)[0]]}createParse(e,t,i){let s=new Tl(this,e,t,i);for(let r of this.wrappers)s=r(s,e,t,i);return s}getGoto(e,t,i=!1){
let s=this.goto;if(t>=s[0])return-1;for(let r=s[t+1];;){let o=s[r++],l=o&1,a=s[r++];if(l&&i)return a;for(let h=r+
(o>>1);r<h;r++)if(s[r]==e)return a;if(l)return-1}}hasAction(e,t){let i=this.data;for(let s=0;s<2;s++)for(let r=this.
stateSlot(e,s?2:1),o;;r+=3){if((o=i[r])==65535)if(i[r+1]==1)o=i[r=ft(i,r+2)];else{if(i[r+1]==2)return ft(i,r+2);
break}if(o==t||o==0)return ft(i,r+1)}return 0}stateSlot(e,t){return this.states[e*6+t]}stateFlag(e,t){return(this.
stateSlot(e,0)&t)>0}validAction(e,t){return!!this.allActions(e,i=>i==t?!0:null)}allActions(e,t){let i=this.stateSlot(
e,4),s=i?t(i):void 0;for(let r=this.stateSlot(e,1);s==null;r+=3){if(this.data[r]==65535)if(this.data[r+1]==1)r=
ft(this.data,r+2);else break;s=t(ft(this.data,r+1))}return s}nextStates(e){let t=[];for(let i=this.stateSlot(e,
1);;i+=3){if(this.data[i]==65535)if(this.data[i+1]==1)i=ft(this.data,i+2);else break;if((this.data[i+2]&1)==0){
let s=this.data[i+1];t.some((r,o)=>o&1&&r==s)||t.push(this.data[i],s)}}return t}configure(e){let t=Object.assign(
Object.create(n.prototype),this);if(e.props&&(t.nodeSet=this.nodeSet.extend(...e.props)),e.top){let i=this.topRules[e.
top];if(!i)throw new RangeError(`Invalid top rule name ${e.top}`);t.top=i}return e.tokenizers&&(t.tokenizers=this.
tokenizers.map(i=>{let s=e.tokenizers.find(r=>r.from==i);return s?s.to:i})),e.specializers&&(t.specializers=this.
specializers.slice(),t.specializerSpecs=this.specializerSpecs.map((i,s)=>{let r=e.specializers.find(l=>l.from==
i.external);if(!r)return i;let o=Object.assign(Object.assign({},i),{external:r.to});return t.specializers[s]=Zf(
o),o})),e.contextTracker&&(t.context=e.contextTracker),e.dialect&&(t.dialect=this.parseDialect(e.dialect)),e.strict!=
null&&(t.strict=e.strict),e.wrap&&(t.wrappers=t.wrappers.concat(e.wrap)),e.bufferLength!=null&&(t.bufferLength=
e.bufferLength),t}hasWrappers(){return this.wrappers.length>0}getName(e){return this.termNames?this.termNames[e]:
String(e<=this.maxNode&&this.nodeSet.types[e].name||e)}get eofTerm(){return this.maxNode+1}get topNode(){return this.
nodeSet.types[this.top[1]]}dynamicPrecedence(e){let t=this.dynamicPrecedences;return t==null?0:t[e]||0}parseDialect(e){
let t=Object.keys(this.dialects),i=t.map(()=>!1);if(e)for(let r of e.split(" ")){let o=t.indexOf(r);o>=0&&(i[o]=
!0)}let s=null;for(let r=0;r<t.length;r++)if(!i[r])for(let o=this.dialects[t[r]],l;(l=this.data[o++])!=65535;)
(s||(s=new Uint8Array(this.maxTerm+1)))[l]=1;return new Ol(e,i,s)}static deserialize(e){return new n(e)}};function ft(n,e){
return n[e]|n[e+1]<<16}function r0(n){let e=null;for(let t of n){let i=t.p.stoppedAt;(t.pos==t.p.stream.end||i!=
null&&t.pos>i)&&t.p.parser.stateFlag(t.state,2)&&(!e||e.score<t.score)&&(e=t)}return e}function Zf(n){if(n.external){
let e=n.extend?1:0;return(t,i)=>n.external(t,i)<<1|e}return n.get}var o0=xs({String:k.string,Number:k.number,"True False":k.bool,PropertyName:k.propertyName,Null:k.null,", :":k.
separator,"[ ]":k.squareBracket,"{ }":k.brace}),tu=Es.deserialize({version:14,states:"$bOVQPOOOOQO'#Cb'#CbOnQP\
O'#CeOvQPO'#ClOOQO'#Cr'#CrQOQPOOOOQO'#Cg'#CgO}QPO'#CfO!SQPO'#CtOOQO,59P,59PO![QPO,59PO!aQPO'#CuOOQO,59W,59WO!i\
QPO,59WOVQPO,59QOqQPO'#CmO!nQPO,59`OOQO1G.k1G.kOVQPO'#CnO!vQPO,59aOOQO1G.r1G.rOOQO1G.l1G.lOOQO,59X,59XOOQO-E6k\
-E6kOOQO,59Y,59YOOQO-E6l-E6l",stateData:"#O~OeOS~OQSORSOSSOTSOWQO_ROgPO~OVXOgUO~O^[O~PVO[^O~O]_OVhX~OVaO~O]bO^\
iX~O^dO~O]_OVha~O]bO^ia~O",goto:"!kjPPPPPPkPPkqwPPPPk{!RPPP!XP!e!hXSOR^bQWQRf_TVQ_Q`WRg`QcZRicQTOQZRQe^RhbRYQR\
]R",nodeNames:"\u26A0 JsonText True False Null Number String } { Object Property PropertyName : , ] [ Array",maxTerm:25,
nodeProps:[["isolate",-2,6,11,""],["openedBy",7,"{",14,"["],["closedBy",8,"}",15,"]"]],propSources:[o0],skippedNodes:[
0],repeatNodeCount:2,tokenData:"(|~RaXY!WYZ!W]^!Wpq!Wrs!]|}$u}!O$z!Q!R%T!R![&c![!]&t!}#O&y#P#Q'O#Y#Z'T#b#c'r#h\
#i(Z#o#p(r#q#r(w~!]Oe~~!`Wpq!]qr!]rs!xs#O!]#O#P!}#P;'S!];'S;=`$o<%lO!]~!}Og~~#QXrs!]!P!Q!]#O#P!]#U#V!]#Y#Z!]#b\
#c!]#f#g!]#h#i!]#i#j#m~#pR!Q![#y!c!i#y#T#Z#y~#|R!Q![$V!c!i$V#T#Z$V~$YR!Q![$c!c!i$c#T#Z$c~$fR!Q![!]!c!i!]#T#Z!]\
~$rP;=`<%l!]~$zO]~~$}Q!Q!R%T!R![&c~%YRT~!O!P%c!g!h%w#X#Y%w~%fP!Q![%i~%nRT~!Q![%i!g!h%w#X#Y%w~%zR{|&T}!O&T!Q![&\
Z~&WP!Q![&Z~&`PT~!Q![&Z~&hST~!O!P%c!Q![&c!g!h%w#X#Y%w~&yO[~~'OO_~~'TO^~~'WP#T#U'Z~'^P#`#a'a~'dP#g#h'g~'jP#X#Y'\
m~'rOR~~'uP#i#j'x~'{P#`#a(O~(RP#`#a(U~(ZOS~~(^P#f#g(a~(dP#i#j(g~(jP#X#Y(m~(rOQ~~(wOW~~(|OV~",tokenizers:[0],topRules:{
JsonText:[0,1]},tokenPrec:0});var iu=()=>n=>{try{JSON.parse(n.state.doc.toString())}catch(e){if(!(e instanceof SyntaxError))throw e;let t=l0(
e,n.state.doc);return[{from:t,message:e.message,severity:"error",to:t}]}return[]};function l0(n,e){let t;return(t=
n.message.match(/at position (\d+)/))?Math.min(+t[1],e.length):(t=n.message.match(/at line (\d+) column (\d+)/))?
Math.min(e.line(+t[1]).from+ +t[2]-1,e.length):0}var a0=ws.define({name:"json",parser:tu.configure({props:[rl.
add({Object:ol({except:/^\s*\}/}),Array:ol({except:/^\s*\]/})}),ll.add({"Object Array":Fc})]}),languageData:{closeBrackets:{
brackets:["[","{",'"']},indentOnInput:/^\s*[\}\]]$/}});function nu(){return new ks(a0)}var Fs=class{constructor(e,t,i){this.from=e,this.to=t,this.diagnostic=i}},_t=class n{constructor(e,t,i){this.diagnostics=
e,this.panel=t,this.selected=i}static init(e,t,i){let s=i.facet(it).markerFilter;s&&(e=s(e,i));let r=e.slice().
sort((d,p)=>d.from-p.from||d.to-p.to),o=new ye,l=[],a=0,h=i.doc.iter(),c=0,f=i.doc.length;for(let d=0;;){let p=d==
r.length?null:r[d];if(!p&&!l.length)break;let m,g;if(l.length)m=a,g=l.reduce((x,D)=>Math.min(x,D.to),p&&p.from>
m?p.from:1e8);else{if(m=p.from,m>f)break;g=p.to,l.push(p),d++}for(;d<r.length;){let x=r[d];if(x.from==m&&(x.to>
x.from||x.to==m))l.push(x),d++,g=Math.min(x.to,g);else{g=Math.min(x.from,g);break}}g=Math.min(g,f);let b=!1;if(l.
some(x=>x.from==m&&(x.to==g||g==f))&&(b=m==g,!b&&g-m<10)){let x=m-(c+h.value.length);x>0&&(h.next(x),c=m);for(let D=m;;){
if(D>=g){b=!0;break}if(!h.lineBreak&&c+h.value.length>D)break;D=c+h.value.length,c+=h.value.length,h.next()}}let T=pu(
l);if(b)o.add(m,m,P.widget({widget:new Dl(T),diagnostics:l.slice()}));else{let x=l.reduce((D,w)=>w.markClass?D+
" "+w.markClass:D,"");o.add(m,g,P.mark({class:"cm-lintRange cm-lintRange-"+T+x,diagnostics:l.slice(),inclusiveEnd:l.
some(D=>D.to>g)}))}if(a=g,a==f)break;for(let x=0;x<l.length;x++)l[x].to<=a&&l.splice(x--,1)}let u=o.finish();return new n(
u,t,At(u))}};function At(n,e=null,t=0){let i=null;return n.between(t,1e9,(s,r,{spec:o})=>{if(!(e&&o.diagnostics.
indexOf(e)<0))if(!i)i=new Fs(s,r,e||o.diagnostics[0]);else{if(o.diagnostics.indexOf(i.diagnostic)<0)return!1;i=
new Fs(i.from,r,i.diagnostic)}}),i}function ou(n,e){let t=e.pos,i=e.end||t,s=n.state.facet(it).hideOn(n,t,i);if(s!=
null)return s;let r=n.startState.doc.lineAt(e.pos);return!!(n.effects.some(o=>o.is(Vs))||n.changes.touchesRange(
r.from,Math.max(r.to,i)))}function lu(n,e){return n.field(Oe,!1)?e:e.concat(B.appendConfig.of(bu))}function h0(n,e){
return{effects:lu(n,[Vs.of(e)])}}var Vs=B.define(),Rl=B.define(),au=B.define(),Oe=Q.define({create(){return new _t(
P.none,null,null)},update(n,e){if(e.docChanged&&n.diagnostics.size){let t=n.diagnostics.map(e.changes),i=null,
s=n.panel;if(n.selected){let r=e.changes.mapPos(n.selected.from,1);i=At(t,n.selected.diagnostic,r)||At(t,null,
r)}!t.size&&s&&e.state.facet(it).autoPanel&&(s=null),n=new _t(t,s,i)}for(let t of e.effects)if(t.is(Vs)){let i=e.
state.facet(it).autoPanel?t.value.length?un.open:null:n.panel;n=_t.init(t.value,i,e.state)}else t.is(Rl)?n=new _t(
n.diagnostics,t.value?un.open:null,n.selected):t.is(au)&&(n=new _t(n.diagnostics,n.panel,t.value));return n},provide:n=>[
Wt.from(n,e=>e.panel),O.decorations.from(n,e=>e.diagnostics)]});var c0=P.mark({class:"cm-lintRange cm-lintRange-active"});function f0(n,e,t){let{diagnostics:i}=n.state.field(
Oe),s,r=-1,o=-1;i.between(e-(t<0?1:0),e+(t>0?1:0),(a,h,{spec:c})=>{if(e>=a&&e<=h&&(a==h||(e>a||t>0)&&(e<h||t<0)))
return s=c.diagnostics,r=a,o=h,!1});let l=n.state.facet(it).tooltipFilter;return s&&l&&(s=l(s,n.state)),s?{pos:r,
end:o,above:!0,create(){return{dom:hu(n,s)}}}:null}function hu(n,e){return H("ul",{class:"cm-tooltip-lint"},e.
map(t=>du(n,t,!1)))}var u0=n=>{let e=n.state.field(Oe,!1);(!e||!e.panel)&&n.dispatch({effects:lu(n.state,[Rl.of(
!0)])});let t=yi(n,un.open);return t&&t.dom.querySelector(".cm-panel-lint ul").focus(),!0},su=n=>{let e=n.state.
field(Oe,!1);return!e||!e.panel?!1:(n.dispatch({effects:Rl.of(!1)}),!0)},d0=n=>{let e=n.state.field(Oe,!1);if(!e)
return!1;let t=n.state.selection.main,i=At(e.diagnostics,null,t.to+1);return!i&&(i=At(e.diagnostics,null,0),!i||
i.from==t.from&&i.to==t.to)?!1:(n.dispatch({selection:{anchor:i.from,head:i.to},scrollIntoView:!0}),ac(n,i.from,
1,{tooltip:gu,until:s=>s.docChanged||s.newSelection.main.head<i.from||s.newSelection.main.head>i.to}),!0)};var cu=[{key:"Mod-Shift-m",run:u0,preventDefault:!0},{key:"F8",run:d0}],p0=J.fromClass(class{constructor(n){this.
view=n,this.timeout=-1,this.set=!0;let{delay:e}=n.state.facet(it);this.lintTime=Date.now()+e,this.run=this.run.
bind(this),this.timeout=setTimeout(this.run,e)}run(){clearTimeout(this.timeout);let n=Date.now();if(n<this.lintTime-
10)this.timeout=setTimeout(this.run,this.lintTime-n);else{this.set=!1;let{state:e}=this.view,{sources:t}=e.facet(
it);t.length&&m0(t.map(i=>Promise.resolve(i(this.view))),i=>{this.view.state.doc==e.doc&&this.view.dispatch(h0(
this.view.state,i.reduce((s,r)=>s.concat(r))))},i=>{ge(this.view.state,i)})}}update(n){let e=n.state.facet(it);
(n.docChanged||e!=n.startState.facet(it)||e.needsRefresh&&e.needsRefresh(n))&&(this.lintTime=Date.now()+e.delay,
this.set||(this.set=!0,this.timeout=setTimeout(this.run,e.delay)))}force(){this.set&&(this.lintTime=Date.now(),
this.run())}destroy(){clearTimeout(this.timeout)}});function m0(n,e,t){let i=[],s=-1;for(let r of n)r.then(o=>{
i.push(o),clearTimeout(s),i.length==n.length?e(i):s=setTimeout(()=>e(i),200)},t)}var it=S.define({combine(n){return{
sources:n.map(e=>e.source).filter(e=>e!=null),...ce(n.map(e=>e.config),{delay:750,markerFilter:null,tooltipFilter:null,
needsRefresh:null,hideOn:()=>null},{delay:Math.max,markerFilter:ru,tooltipFilter:ru,needsRefresh:(e,t)=>e?t?i=>e(
i)||t(i):e:t,hideOn:(e,t)=>e?t?(i,s,r)=>e(i,s,r)||t(i,s,r):e:t,autoPanel:(e,t)=>e||t})}}});function ru(n,e){return n?
e?(t,i)=>e(n(t,i),i):n:e}function fu(n,e={}){return[it.of({source:n,config:e}),p0,bu]}function uu(n){let e=[];if(n)e:for(let{name:t}of n){for(let i=0;i<t.length;i++){let s=t[i];if(/[a-zA-Z]/.test(
s)&&!e.some(r=>r.toLowerCase()==s.toLowerCase())){e.push(s);continue e}}e.push("")}return e}function du(n,e,t){
var i;let s=t?uu(e.actions):[];return H("li",{class:"cm-diagnostic cm-diagnostic-"+e.severity},H("span",{class:"\
cm-diagnosticText"},e.renderMessage?e.renderMessage(n):e.message),(i=e.actions)===null||i===void 0?void 0:i.map(
(r,o)=>{let l=0,a=d=>{if(d.preventDefault(),l>Date.now()-100)return;let p=At(n.state.field(Oe).diagnostics,e);
p&&r.apply(n,p.from,p.to),l=Date.now()},{name:h}=r,c=s[o]?h.indexOf(s[o]):-1,f=c<0?h:[h.slice(0,c),H("u",h.slice(
c,c+1)),h.slice(c+1)],u=r.markClass?" "+r.markClass:"";return H("button",{type:"button",class:"cm-diagnosticAc\
tion"+u,onclick:a,onmousedown:a,"aria-label":` Action: ${h}${c<0?"":` (access key "${s[o]})"`}.`},f)}),e.source&&
H("div",{class:"cm-diagnosticSource"},e.source))}var Dl=class extends we{constructor(e){super(),this.sev=e}eq(e){
return e.sev==this.sev}toDOM(){return H("span",{class:"cm-lintPoint cm-lintPoint-"+this.sev})}},Ws=class{constructor(e,t){
this.diagnostic=t,this.id="item_"+Math.floor(Math.random()*4294967295).toString(16),this.dom=du(e,t,!0),this.dom.
id=this.id,this.dom.setAttribute("role","option")}},un=class n{constructor(e){this.view=e,this.items=[];let t=s=>{
if(!(s.ctrlKey||s.altKey||s.metaKey)){if(s.keyCode==27)su(this.view),this.view.focus();else if(s.keyCode==38||
s.keyCode==33)this.moveSelection((this.selectedIndex-1+this.items.length)%this.items.length);else if(s.keyCode==
40||s.keyCode==34)this.moveSelection((this.selectedIndex+1)%this.items.length);else if(s.keyCode==36)this.moveSelection(
0);else if(s.keyCode==35)this.moveSelection(this.items.length-1);else if(s.keyCode==13)this.view.focus();else if(s.
keyCode>=65&&s.keyCode<=90&&this.selectedIndex>=0){let{diagnostic:r}=this.items[this.selectedIndex],o=uu(r.actions);
for(let l=0;l<o.length;l++)if(o[l].toUpperCase().charCodeAt(0)==s.keyCode){let a=At(this.view.state.field(Oe).
diagnostics,r);a&&r.actions[l].apply(e,a.from,a.to)}}else return;s.preventDefault()}},i=s=>{for(let r=0;r<this.
items.length;r++)this.items[r].dom.contains(s.target)&&this.moveSelection(r)};this.list=H("ul",{tabIndex:0,role:"\
listbox","aria-label":this.view.state.phrase("Diagnostics"),onkeydown:t,onclick:i}),this.dom=H("div",{class:"c\
m-panel-lint"},this.list,H("button",{type:"button",name:"close","aria-label":this.view.state.phrase("close"),onclick:()=>su(
this.view)},"\xD7")),this.update()}get selectedIndex(){let e=this.view.state.field(Oe).selected;if(!e)return-1;
for(let t=0;t<this.items.length;t++)if(this.items[t].diagnostic==e.diagnostic)return t;return-1}update(){let{diagnostics:e,
selected:t}=this.view.state.field(Oe),i=0,s=!1,r=null,o=new Set;for(e.between(0,this.view.state.doc.length,(l,a,{
spec:h})=>{for(let c of h.diagnostics){if(o.has(c))continue;o.add(c);let f=-1,u;for(let d=i;d<this.items.length;d++)
if(this.items[d].diagnostic==c){f=d;break}f<0?(u=new Ws(this.view,c),this.items.splice(i,0,u),s=!0):(u=this.items[f],
f>i&&(this.items.splice(i,f-i),s=!0)),t&&u.diagnostic==t.diagnostic?u.dom.hasAttribute("aria-selected")||(u.dom.
setAttribute("aria-selected","true"),r=u):u.dom.hasAttribute("aria-selected")&&u.dom.removeAttribute("aria-sel\
ected"),i++}});i<this.items.length&&!(this.items.length==1&&this.items[0].diagnostic.from<0);)s=!0,this.items.
pop();this.items.length==0&&(this.items.push(new Ws(this.view,{from:-1,to:-1,severity:"info",message:this.view.
state.phrase("No diagnostics")})),s=!0),r?(this.list.setAttribute("aria-activedescendant",r.id),this.view.requestMeasure(
{key:this,read:()=>({sel:r.dom.getBoundingClientRect(),panel:this.list.getBoundingClientRect()}),write:({sel:l,
panel:a})=>{let h=a.height/this.list.offsetHeight;l.top<a.top?this.list.scrollTop-=(a.top-l.top)/h:l.bottom>a.
bottom&&(this.list.scrollTop+=(l.bottom-a.bottom)/h)}})):this.selectedIndex<0&&this.list.removeAttribute("aria\
-activedescendant"),s&&this.sync()}sync(){let e=this.list.firstChild;function t(){let i=e;e=i.nextSibling,i.remove()}
for(let i of this.items)if(i.dom.parentNode==this.list){for(;e!=i.dom;)t();e=i.dom.nextSibling}else this.list.
insertBefore(i.dom,e);for(;e;)t()}moveSelection(e){if(this.selectedIndex<0)return;let t=this.view.state.field(
Oe),i=At(t.diagnostics,this.items[e].diagnostic);i&&this.view.dispatch({selection:{anchor:i.from,head:i.to},scrollIntoView:!0,
effects:au.of(i)})}static open(e){return new n(e)}};function Ns(n,e='viewBox="0 0 40 40"'){return`url('data:im\
age/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" ${e}>${encodeURIComponent(n)}</svg>')`}function Is(n){return Ns(
`<path d="m0 2.5 l2 -1.5 l1 0 l2 1.5 l1 0" stroke="${n}" fill="none" stroke-width=".7"/>`,'width="6" height="3\
"')}var g0=O.baseTheme({".cm-diagnostic":{padding:"3px 6px 3px 8px",marginLeft:"-1px",display:"block",whiteSpace:"\
pre-wrap"},".cm-diagnostic-error":{borderLeft:"5px solid #d11"},".cm-diagnostic-warning":{borderLeft:"5px soli\
d orange"},".cm-diagnostic-info":{borderLeft:"5px solid #999"},".cm-diagnostic-hint":{borderLeft:"5px solid #6\
6d"},".cm-diagnosticAction":{font:"inherit",border:"none",padding:"2px 4px",backgroundColor:"#444",color:"whit\
e",borderRadius:"3px",marginLeft:"8px",cursor:"pointer"},".cm-diagnosticSource":{fontSize:"70%",opacity:.7},".\
cm-lintRange":{backgroundPosition:"left bottom",backgroundRepeat:"repeat-x",paddingBottom:"0.7px"},".cm-lintRa\
nge-error":{backgroundImage:Is("#f11")},".cm-lintRange-warning":{backgroundImage:Is("orange")},".cm-lintRange-\
info":{backgroundImage:Is("#999")},".cm-lintRange-hint":{backgroundImage:Is("#66d")},".cm-lintRange-active":{backgroundColor:"\
#ffdd9980"},".cm-tooltip-lint":{padding:0,margin:0},".cm-lintPoint":{position:"relative","&:after":{content:'"\
"',position:"absolute",bottom:0,left:"-2px",borderLeft:"3px solid transparent",borderRight:"3px solid transpar\
ent",borderBottom:"4px solid #d11"}},".cm-lintPoint-warning":{"&:after":{borderBottomColor:"orange"}},".cm-lin\
tPoint-info":{"&:after":{borderBottomColor:"#999"}},".cm-lintPoint-hint":{"&:after":{borderBottomColor:"#66d"}},
".cm-panel.cm-panel-lint":{position:"relative","& ul":{maxHeight:"100px",overflowY:"auto","& [aria-selected]":{
backgroundColor:"#ddd","& u":{textDecoration:"underline"}},"&:focus [aria-selected]":{background_fallback:"#bd\
f",backgroundColor:"Highlight",color_fallback:"white",color:"HighlightText"},"& u":{textDecoration:"none"},padding:0,
margin:0},"& [name=close]":{position:"absolute",top:"0",right:"2px",background:"inherit",border:"none",font:"i\
nherit",padding:0,margin:0}},"&dark .cm-lintRange-active":{backgroundColor:"#86714a80"},"&dark .cm-panel.cm-pa\
nel-lint ul":{"& [aria-selected]":{backgroundColor:"#2e343e"}}});function b0(n){return n=="error"?4:n=="warnin\
g"?3:n=="info"?2:1}function pu(n){let e="hint",t=1;for(let i of n){let s=b0(i.severity);s>t&&(t=s,e=i.severity)}
return e}var Hs=class extends ke{constructor(e){super(),this.diagnostics=e,this.severity=pu(e)}toDOM(e){let t=document.
createElement("div");t.className="cm-lint-marker cm-lint-marker-"+this.severity;let i=this.diagnostics,s=e.state.
facet(zs).tooltipFilter;return s&&(i=s(i,e.state)),i.length&&(t.onmouseover=()=>x0(e,t,i)),t}};function y0(n,e){
let t=i=>{let s=e.getBoundingClientRect();if(!(i.clientX>s.left-10&&i.clientX<s.right+10&&i.clientY>s.top-10&&
i.clientY<s.bottom+10)){for(let r=i.target;r;r=r.parentNode)if(r.nodeType==1&&r.classList.contains("cm-tooltip\
-lint"))return;window.removeEventListener("mousemove",t),n.state.field(mu)&&n.dispatch({effects:Bl.of(null)})}};
window.addEventListener("mousemove",t)}function x0(n,e,t){function i(){let o=n.elementAtHeight(e.getBoundingClientRect().
top+5-n.documentTop);n.coordsAtPos(o.from)&&n.dispatch({effects:Bl.of({pos:o.from,above:!1,clip:!1,create(){return{
dom:hu(n,t),getCoords:()=>e.getBoundingClientRect()}}})}),e.onmouseout=e.onmousemove=null,y0(n,e)}let{hoverTime:s}=n.
state.facet(zs),r=setTimeout(i,s);e.onmouseout=()=>{clearTimeout(r),e.onmouseout=e.onmousemove=null},e.onmousemove=
()=>{clearTimeout(r),r=setTimeout(i,s)}}function w0(n,e){let t=Object.create(null);for(let s of e){let r=n.lineAt(
s.from);(t[r.from]||(t[r.from]=[])).push(s)}let i=[];for(let s in t)i.push(new Hs(t[s]).range(+s));return W.of(
i,!0)}var k0=fs({class:"cm-gutter-lint",markers:n=>n.state.field(Pl),widgetMarker:(n,e,t)=>{let i=[];return n.
state.field(Pl).between(t.from,t.to,(s,r,o)=>{s>t.from&&s<t.to&&i.push(...o.diagnostics)}),i.length?new Hs(i):
null}}),Pl=Q.define({create(){return W.empty},update(n,e){n=n.map(e.changes);let t=e.state.facet(zs).markerFilter;
for(let i of e.effects)if(i.is(Vs)){let s=i.value;t&&(s=t(s||[],e.state)),n=w0(e.state.doc,s.slice(0))}return n}}),
Bl=B.define(),mu=Q.define({create(){return null},update(n,e){return n&&e.docChanged&&(n=ou(e,n)?null:{...n,pos:e.
changes.mapPos(n.pos)}),e.effects.reduce((t,i)=>i.is(Bl)?i.value:t,n)},provide:n=>Yi.from(n)}),v0=O.baseTheme(
{".cm-gutter-lint":{width:"1.4em","& .cm-gutterElement":{padding:".2em"}},".cm-lint-marker":{width:"1em",height:"\
1em"},".cm-lint-marker-info":{content:Ns('<path fill="#aaf" stroke="#77e" stroke-width="6" stroke-linejoin="ro\
und" d="M5 5L35 5L35 35L5 35Z"/>')},".cm-lint-marker-warning":{content:Ns('<path fill="#fe8" stroke="#fd7" str\
oke-width="6" stroke-linejoin="round" d="M20 6L37 35L3 35Z"/>')},".cm-lint-marker-error":{content:Ns('<circle \
cx="20" cy="20" r="15" fill="#f87" stroke="#f43" stroke-width="6"/>')}}),gu=lc(f0,{hideOn:ou}),bu=[Oe,O.decorations.
compute([Oe],n=>{let{selected:e,panel:t}=n.field(Oe);return!e||!t||e.from==e.to?P.none:P.set([c0.range(e.from,
e.to)])}),gu,g0],zs=S.define({combine(n){return ce(n,{hoverTime:300,markerFilter:null,tooltipFilter:null})}});
function yu(n={}){return[zs.of(n),Pl,k0,v0,mu]}var xu=typeof String.prototype.normalize=="function"?n=>n.normalize("NFKD"):n=>n,Tt=class{constructor(e,t,i=0,s=e.
length,r,o){this.test=o,this.value={from:0,to:0,precise:!1},this.done=!1,this.matches=[],this.buffer="",this.bufferPos=
0,this.iter=e.iterRange(i,s),this.bufferStart=i,this.normalize=r?l=>r(xu(l)):xu,this.query=this.normalize(t)}peek(){
if(this.bufferPos==this.buffer.length){if(this.bufferStart+=this.buffer.length,this.iter.next(),this.iter.done)
return-1;this.bufferPos=0,this.buffer=this.iter.value}return He(this.buffer,this.bufferPos)}next(){for(;this.matches.
length;)this.matches.pop();return this.nextOverlapping()}nextOverlapping(){for(;;){let e=this.peek();if(e<0)return this.
done=!0,this;let t=Tn(e),i=this.bufferStart+this.bufferPos;this.bufferPos+=dt(e);let s=this.normalize(t);if(s.
length)for(let r=0,o=i,l=!0;;r++){let a=s.charCodeAt(r),h=this.match(a,o,l,this.bufferPos+this.bufferStart,r==
s.length-1);if(h)return this.value=h,this;if(r==s.length-1)break;l&&r<t.length&&t.charCodeAt(r)==a?o++:l=!1}}}match(e,t,i,s,r){
let o=null;for(let l=0;l<this.matches.length;){let a=this.matches[l],h=!1;this.query.charCodeAt(a.index)==e&&(a.
index==this.query.length-1?o={from:a.from,to:s,precise:r&&a.precise}:(a.index++,h=!0)),h?l++:this.matches.splice(
l,1)}return this.query.charCodeAt(0)==e&&(this.query.length==1?o={from:t,to:s,precise:i&&r}:this.matches.push(
{from:t,index:1,precise:i})),o&&this.test&&!this.test(o.from,o.to,this.buffer,this.bufferStart)&&(o=null),o}};
typeof Symbol<"u"&&(Tt.prototype[Symbol.iterator]=function(){return this});var vu={from:-1,to:-1,match:/.*/.exec(
""),precise:!0},Hl="gm"+(/x/.unicode==null?"":"u"),Ks=class{constructor(e,t,i,s=0,r=e.length){if(this.text=e,this.
to=r,this.curLine="",this.done=!1,this.value=vu,/\\[sWDnr]|\n|\r|\[\^/.test(t))return new Us(e,t,i,s,r);this.re=
new RegExp(t,Hl+(i?.ignoreCase?"i":"")),this.test=i?.test,this.iter=e.iter();let o=e.lineAt(s);this.curLineStart=
o.from,this.matchPos=Gs(e,s),this.getLine(this.curLineStart)}getLine(e){this.iter.next(e),this.iter.lineBreak?
this.curLine="":(this.curLine=this.iter.value,this.curLineStart+this.curLine.length>this.to&&(this.curLine=this.
curLine.slice(0,this.to-this.curLineStart)),this.iter.next())}nextLine(){this.curLineStart=this.curLineStart+this.
curLine.length+1,this.curLineStart>this.to?this.curLine="":this.getLine(0)}next(){for(let e=this.matchPos-this.
curLineStart;;){this.re.lastIndex=e;let t=this.matchPos<=this.to&&this.re.exec(this.curLine);if(t){let i=this.
curLineStart+t.index,s=i+t[0].length;if(this.matchPos=Gs(this.text,s+(i==s?1:0)),i==this.curLineStart+this.curLine.
length&&this.nextLine(),(i<s||i>this.value.to)&&(!this.test||this.test(i,s,t)))return this.value={from:i,to:s,
precise:!0,match:t},this;e=this.matchPos-this.curLineStart}else if(this.curLineStart+this.curLine.length<this.
to)this.nextLine(),e=0;else return this.done=!0,this}}},Ll=new WeakMap,js=class n{constructor(e,t){this.from=e,
this.text=t}get to(){return this.from+this.text.length}static get(e,t,i){let s=Ll.get(e);if(!s||s.from>=i||s.to<=
t){let l=new n(t,e.sliceString(t,i));return Ll.set(e,l),l}if(s.from==t&&s.to==i)return s;let{text:r,from:o}=s;
return o>t&&(r=e.sliceString(t,o)+r,o=t),s.to<i&&(r+=e.sliceString(s.to,i)),Ll.set(e,new n(o,r)),new n(t,r.slice(
t-o,i-o))}},Us=class{constructor(e,t,i,s,r){this.text=e,this.to=r,this.done=!1,this.value=vu,this.matchPos=Gs(
e,s),this.re=new RegExp(t,Hl+(i?.ignoreCase?"i":"")),this.test=i?.test,this.flat=js.get(e,s,this.chunkEnd(s+5e3))}chunkEnd(e){
return e>=this.to?this.to:this.text.lineAt(e).to}next(){for(;;){let e=this.re.lastIndex=this.matchPos-this.flat.
from,t=this.re.exec(this.flat.text);if(t&&!t[0]&&t.index==e&&(this.re.lastIndex=e+1,t=this.re.exec(this.flat.text)),
t){let i=this.flat.from+t.index,s=i+t[0].length;if((this.flat.to>=this.to||t.index+t[0].length<=this.flat.text.
length-10)&&(!this.test||this.test(i,s,t)))return this.value={from:i,to:s,precise:!0,match:t},this.matchPos=Gs(
this.text,s+(i==s?1:0)),this}if(this.flat.to==this.to)return this.done=!0,this;this.flat=js.get(this.text,this.
flat.from,this.chunkEnd(this.flat.from+this.flat.text.length*2))}}};typeof Symbol<"u"&&(Ks.prototype[Symbol.iterator]=
Us.prototype[Symbol.iterator]=function(){return this});function S0(n){try{return new RegExp(n,Hl),!0}catch{return!1}}
function Gs(n,e){if(e>=n.length)return e;let t=n.lineAt(e),i;for(;e<t.to&&(i=t.text.charCodeAt(e-t.from))>=56320&&
i<57344;)e++;return e}var C0=n=>{let e=fc(n,"cm-goto-line");if(e){let o=e.dom.querySelector("input[type=text]");
return o&&o.select(),!0}let{state:t}=n,i=String(t.doc.lineAt(n.state.selection.main.head).number),{close:s,result:r}=cc(
n,{class:"cm-goto-line",label:t.phrase("Go to line"),input:{type:"text",name:"line",value:i},focus:!0,submitLabel:t.
phrase("go")});return r.then(o=>{let l=o&&/^([+-])?(\d+)?(:\d+)?(%)?$/.exec(o.elements.line.value);if(!l){n.dispatch(
{effects:s});return}let a=t.doc.lineAt(t.selection.main.head),[,h,c,f,u]=l,d=f?+f.slice(1):0,p=c?+c:a.number;if(c&&
u){let b=p/100;h&&(b=b*(h=="-"?-1:1)+a.number/t.doc.lines),p=Math.round(t.doc.lines*b)}else c&&h&&(p=p*(h=="-"?
-1:1)+a.number);let m=t.doc.line(Math.max(1,Math.min(t.doc.lines,p))),g=y.cursor(m.from+Math.max(0,Math.min(d,
m.length)));n.dispatch({effects:[s,O.scrollIntoView(g.from,{y:"center"})],selection:g})}),!0},A0={highlightWordAroundCursor:!1,
minSelectionLength:1,maxMatches:100,wholeWords:!1},Su=S.define({combine(n){return ce(n,A0,{highlightWordAroundCursor:(e,t)=>e||
t,minSelectionLength:Math.min,maxMatches:Math.min})}});function Cu(n){let e=[P0,D0];return n&&e.push(Su.of(n)),
e}var M0=P.mark({class:"cm-selectionMatch"}),T0=P.mark({class:"cm-selectionMatch cm-selectionMatch-main"});function wu(n,e,t,i){
return(t==0||n(e.sliceDoc(t-1,t))!=$.Word)&&(i==e.doc.length||n(e.sliceDoc(i,i+1))!=$.Word)}function O0(n,e,t,i){
return n(e.sliceDoc(t,t+1))==$.Word&&n(e.sliceDoc(i-1,i))==$.Word}var D0=J.fromClass(class{constructor(n){this.
decorations=this.getDeco(n)}update(n){(n.selectionSet||n.docChanged||n.viewportChanged)&&(this.decorations=this.
getDeco(n.view))}getDeco(n){let e=n.state.facet(Su),{state:t}=n,i=t.selection;if(i.ranges.length>1)return P.none;
let s=i.main,r,o=null;if(s.empty){if(!e.highlightWordAroundCursor)return P.none;let a=t.wordAt(s.head);if(!a)return P.
none;o=t.charCategorizer(s.head),r=t.sliceDoc(a.from,a.to)}else{let a=s.to-s.from;if(a<e.minSelectionLength||a>
200)return P.none;if(e.wholeWords){if(r=t.sliceDoc(s.from,s.to),o=t.charCategorizer(s.head),!(wu(o,t,s.from,s.
to)&&O0(o,t,s.from,s.to)))return P.none}else if(r=t.sliceDoc(s.from,s.to),!r)return P.none}let l=[];for(let a of n.
visibleRanges){let h=new Tt(t.doc,r,a.from,a.to);for(;!h.next().done;){let{from:c,to:f}=h.value;if((!o||wu(o,t,
c,f))&&(s.empty&&c<=s.from&&f>=s.to?l.push(T0.range(c,f)):(c>=s.to||f<=s.from)&&l.push(M0.range(c,f)),l.length>
e.maxMatches))return P.none}}return P.set(l)}},{decorations:n=>n.decorations}),P0=O.baseTheme({".cm-selectionM\
atch":{backgroundColor:"#99ff7780"},".cm-searchMatch .cm-selectionMatch":{backgroundColor:"transparent"}}),R0=({
state:n,dispatch:e})=>{let{selection:t}=n,i=y.create(t.ranges.map(s=>n.wordAt(s.head)||y.cursor(s.head)),t.mainIndex);
return i.eq(t)?!1:(e(n.update({selection:i})),!0)};function B0(n,e){let{main:t,ranges:i}=n.selection,s=n.wordAt(
t.head),r=s&&s.from==t.from&&s.to==t.to;for(let o=!1,l=new Tt(n.doc,e,i[i.length-1].to);;)if(l.next(),l.done){
if(o)return null;l=new Tt(n.doc,e,0,Math.max(0,i[i.length-1].from-1)),o=!0}else{if(o&&i.some(a=>a.from==l.value.
from))continue;if(r){let a=n.wordAt(l.value.from);if(!a||a.from!=l.value.from||a.to!=l.value.to)continue}return l.
value}}var L0=({state:n,dispatch:e})=>{let{ranges:t}=n.selection;if(t.some(r=>r.from===r.to))return R0({state:n,
dispatch:e});let i=n.sliceDoc(t[0].from,t[0].to);if(n.selection.ranges.some(r=>n.sliceDoc(r.from,r.to)!=i))return!1;
let s=B0(n,i);return s?(e(n.update({selection:n.selection.addRange(y.range(s.from,s.to),!1),effects:O.scrollIntoView(
s.to)})),!0):!1},Yt=S.define({combine(n){return ce(n,{top:!1,caseSensitive:!1,literal:!1,regexp:!1,wholeWord:!1,
createPanel:e=>new Fl(e),scrollToMatch:e=>O.scrollIntoView(e)})}});function Au(n){return n?[Yt.of(n),Wl]:Wl}var _s=class{constructor(e){
this.search=e.search,this.caseSensitive=!!e.caseSensitive,this.literal=!!e.literal,this.regexp=!!e.regexp,this.
replace=e.replace||"",this.valid=!!this.search&&(!this.regexp||S0(this.search)),this.unquoted=this.unquote(this.
search),this.wholeWord=!!e.wholeWord,this.test=e.test}unquote(e){return this.literal?e:e.replace(/\\([nrt\\])/g,
(t,i)=>i=="n"?`
`:i=="r"?"\r":i=="t"?"	":"\\")}eq(e){return this.search==e.search&&this.replace==e.replace&&this.caseSensitive==
e.caseSensitive&&this.regexp==e.regexp&&this.wholeWord==e.wholeWord&&this.test==e.test}create(){return this.regexp?
new Il(this):new El(this)}getCursor(e,t=0,i){let s=e.doc?e:j.create({doc:e});return i==null&&(i=s.doc.length),
this.regexp?Mi(this,s,t,i):Ai(this,s,t,i)}},Ys=class{constructor(e){this.spec=e}};function E0(n,e,t){return(i,s,r,o)=>{
if(t&&!t(i,s,r,o))return!1;let l=i>=o&&s<=o+r.length?r.slice(i-o,s-o):e.doc.sliceString(i,s);return n(l,e,i,s)}}
function Ai(n,e,t,i){let s;return n.wholeWord&&(s=I0(e.doc,e.charCategorizer(e.selection.main.head))),n.test&&
(s=E0(n.test,e,s)),new Tt(e.doc,n.unquoted,t,i,n.caseSensitive?void 0:r=>r.toLowerCase(),s)}function I0(n,e){return(t,i,s,r)=>((r>
t||r+s.length<i)&&(r=Math.max(0,t-2),s=n.sliceString(r,Math.min(n.length,i+2))),(e(Xs(s,t-r))!=$.Word||e(Qs(s,
t-r))!=$.Word)&&(e(Qs(s,i-r))!=$.Word||e(Xs(s,i-r))!=$.Word))}var El=class extends Ys{constructor(e){super(e)}nextMatch(e,t,i){
let s=Ai(this.spec,e,i,e.doc.length).nextOverlapping();if(s.done){let r=Math.min(e.doc.length,t+this.spec.unquoted.
length);s=Ai(this.spec,e,0,r).nextOverlapping()}return s.done||s.value.from==t&&s.value.to==i?null:s.value}prevMatchInRange(e,t,i){
for(let s=i;;){let r=Math.max(t,s-1e4-this.spec.unquoted.length),o=Ai(this.spec,e,r,s),l=null;for(;!o.nextOverlapping().
done;)l=o.value;if(l)return l;if(r==t)return null;s-=1e4}}prevMatch(e,t,i){let s=this.prevMatchInRange(e,0,t);
return s||(s=this.prevMatchInRange(e,Math.max(0,i-this.spec.unquoted.length),e.doc.length)),s&&(s.from!=t||s.to!=
i)?s:null}getReplacement(e){return this.spec.unquote(this.spec.replace)}matchAll(e,t){let i=Ai(this.spec,e,0,e.
doc.length),s=[];for(;!i.next().done;){if(s.length>=t)return null;s.push(i.value)}return s}highlight(e,t,i,s){
let r=Ai(this.spec,e,Math.max(0,t-this.spec.unquoted.length),Math.min(i+this.spec.unquoted.length,e.doc.length));
for(;!r.next().done;)s(r.value.from,r.value.to)}};function N0(n,e,t){return(i,s,r)=>(!t||t(i,s,r))&&n(r[0],e,i,
s)}function Mi(n,e,t,i){let s;return n.wholeWord&&(s=F0(e.charCategorizer(e.selection.main.head))),n.test&&(s=
N0(n.test,e,s)),new Ks(e.doc,n.search,{ignoreCase:!n.caseSensitive,test:s},t,i)}function Xs(n,e){return n.slice(
Z(n,e,!1),e)}function Qs(n,e){return n.slice(e,Z(n,e))}function F0(n){return(e,t,i)=>!i[0].length||(n(Xs(i.input,
i.index))!=$.Word||n(Qs(i.input,i.index))!=$.Word)&&(n(Qs(i.input,i.index+i[0].length))!=$.Word||n(Xs(i.input,
i.index+i[0].length))!=$.Word)}var Il=class extends Ys{nextMatch(e,t,i){let s=Mi(this.spec,e,i,e.doc.length).next();
return s.done&&(s=Mi(this.spec,e,0,t).next()),s.done?null:s.value}prevMatchInRange(e,t,i){for(let s=1;;s++){let r=Math.
max(t,i-s*1e4),o=Mi(this.spec,e,r,i),l=null;for(;!o.next().done;)l=o.value;if(l&&(r==t||l.from>r+10))return l;
if(r==t)return null}}prevMatch(e,t,i){return this.prevMatchInRange(e,0,t)||this.prevMatchInRange(e,i,e.doc.length)}getReplacement(e){
return this.spec.unquote(this.spec.replace).replace(/\$([$&]|\d+)/g,(t,i)=>{if(i=="&")return e.match[0];if(i==
"$")return"$";for(let s=i.length;s>0;s--){let r=+i.slice(0,s);if(r>0&&r<e.match.length)return e.match[r]+i.slice(
s)}return t})}matchAll(e,t){let i=Mi(this.spec,e,0,e.doc.length),s=[];for(;!i.next().done;){if(s.length>=t)return null;
s.push(i.value)}return s}highlight(e,t,i,s){let r=Mi(this.spec,e,Math.max(0,t-250),Math.min(i+250,e.doc.length));
for(;!r.next().done;)s(r.value.from,r.value.to)}},pn=B.define(),Vl=B.define(),Mt=Q.define({create(n){return new dn(
Nl(n).create(),null)},update(n,e){for(let t of e.effects)t.is(pn)?n=new dn(t.value.create(),n.panel):t.is(Vl)&&
(n=new dn(n.query,t.value?zl:null));return n},provide:n=>Wt.from(n,e=>e.panel)});var dn=class{constructor(e,t){this.query=e,this.panel=t}},W0=P.mark({class:"cm-searchMatch"}),H0=P.mark({class:"\
cm-searchMatch cm-searchMatch-selected"}),V0=J.fromClass(class{constructor(n){this.view=n,this.decorations=this.
highlight(n.state.field(Mt))}update(n){let e=n.state.field(Mt);(e!=n.startState.field(Mt)||n.docChanged||n.selectionSet||
n.viewportChanged)&&(this.decorations=this.highlight(e))}highlight({query:n,panel:e}){if(!e||!n.spec.valid)return P.
none;let{view:t}=this,i=new ye;for(let s=0,r=t.visibleRanges,o=r.length;s<o;s++){let{from:l,to:a}=r[s];for(;s<
o-1&&a>r[s+1].from-500;)a=r[++s].to;n.highlight(t.state,l,a,(h,c)=>{let f=t.state.selection.ranges.some(u=>u.from==
h&&u.to==c);i.add(h,c,f?H0:W0)})}return i.finish()}},{decorations:n=>n.decorations});function mn(n){return e=>{
let t=e.state.field(Mt,!1);return t&&t.query.spec.valid?n(e,t):Ou(e)}}var Js=mn((n,{query:e})=>{let{to:t}=n.state.
selection.main,i=e.nextMatch(n.state,t,t);if(!i)return!1;let s=y.single(i.from,i.to),r=n.state.facet(Yt);return n.
dispatch({selection:s,effects:[ql(n,i),r.scrollToMatch(s.main,n)],userEvent:"select.search"}),Tu(n),!0}),Zs=mn(
(n,{query:e})=>{let{state:t}=n,{from:i}=t.selection.main,s=e.prevMatch(t,i,i);if(!s)return!1;let r=y.single(s.
from,s.to),o=n.state.facet(Yt);return n.dispatch({selection:r,effects:[ql(n,s),o.scrollToMatch(r.main,n)],userEvent:"\
select.search"}),Tu(n),!0}),z0=mn((n,{query:e})=>{let t=e.matchAll(n.state,1e3);return!t||!t.length?!1:(n.dispatch(
{selection:y.create(t.map(i=>y.range(i.from,i.to))),userEvent:"select.search.matches"}),!0)}),q0=({state:n,dispatch:e})=>{
let t=n.selection;if(t.ranges.length>1||t.main.empty)return!1;let{from:i,to:s}=t.main,r=[],o=0;for(let l=new Tt(
n.doc,n.sliceDoc(i,s));!l.next().done;){if(r.length>1e3)return!1;l.value.from==i&&(o=r.length),r.push(y.range(
l.value.from,l.value.to))}return e(n.update({selection:y.create(r,o),userEvent:"select.search.matches"})),!0},
ku=mn((n,{query:e})=>{let{state:t}=n,{from:i,to:s}=t.selection.main;if(t.readOnly)return!1;let r=e.nextMatch(t,
i,i);if(!r)return!1;let o=r,l=[],a,h,c=[];o.precise?o.from==i&&o.to==s&&(h=t.toText(e.getReplacement(o)),l.push(
{from:o.from,to:o.to,insert:h}),o=e.nextMatch(t,o.from,o.to),c.push(O.announce.of(t.phrase("replaced match on \
line $",t.doc.lineAt(i).number)+"."))):o=e.nextMatch(t,o.from,o.to);let f=n.state.changes(l);return o&&(a=y.single(
o.from,o.to).map(f),c.push(ql(n,o)),c.push(t.facet(Yt).scrollToMatch(a.main,n))),n.dispatch({changes:f,selection:a,
effects:c,userEvent:"input.replace"}),!0}),$0=mn((n,{query:e})=>{if(n.state.readOnly)return!1;let t=[];for(let s of e.
matchAll(n.state,1e9)){let{from:r,to:o,precise:l}=s;l&&t.push({from:r,to:o,insert:e.getReplacement(s)})}if(!t.
length)return!1;let i=n.state.phrase("replaced $ matches",t.length)+".";return n.dispatch({changes:t,effects:O.
announce.of(i),userEvent:"input.replace.all"}),!0});function zl(n){return n.state.facet(Yt).createPanel(n)}function Nl(n,e){
var t,i,s,r,o;let l=n.selection.main,a=l.empty||l.to>l.from+100?"":n.sliceDoc(l.from,l.to);if(e&&!a)return e;let h=n.
facet(Yt);return new _s({search:((t=e?.literal)!==null&&t!==void 0?t:h.literal)?a:a.replace(/\n/g,"\\n"),caseSensitive:(i=
e?.caseSensitive)!==null&&i!==void 0?i:h.caseSensitive,literal:(s=e?.literal)!==null&&s!==void 0?s:h.literal,regexp:(r=
e?.regexp)!==null&&r!==void 0?r:h.regexp,wholeWord:(o=e?.wholeWord)!==null&&o!==void 0?o:h.wholeWord})}function Mu(n){
let e=yi(n,zl);return e&&e.dom.querySelector("[main-field]")}function Tu(n){let e=Mu(n);e&&e==n.root.activeElement&&
e.select()}var Ou=n=>{let e=n.state.field(Mt,!1);if(e&&e.panel){let t=Mu(n);if(t&&t!=n.root.activeElement){let i=Nl(
n.state,e.query.spec);i.valid&&n.dispatch({effects:pn.of(i)}),t.focus(),t.select()}}else n.dispatch({effects:[
Vl.of(!0),e?pn.of(Nl(n.state,e.query.spec)):B.appendConfig.of(Wl)]});return!0},Du=n=>{let e=n.state.field(Mt,!1);
if(!e||!e.panel)return!1;let t=yi(n,zl);return t&&t.dom.contains(n.root.activeElement)&&n.focus(),n.dispatch({
effects:Vl.of(!1)}),!0},Pu=[{key:"Mod-f",run:Ou,scope:"editor search-panel"},{key:"F3",run:Js,shift:Zs,scope:"\
editor search-panel",preventDefault:!0},{key:"Mod-g",run:Js,shift:Zs,scope:"editor search-panel",preventDefault:!0},
{key:"Escape",run:Du,scope:"editor search-panel"},{key:"Mod-Shift-l",run:q0},{key:"Mod-Alt-g",run:C0},{key:"Mo\
d-d",run:L0,preventDefault:!0}],Fl=class{constructor(e){this.view=e;let t=this.query=e.state.field(Mt).query.spec;
this.commit=this.commit.bind(this),this.searchField=H("input",{value:t.search,placeholder:De(e,"Find"),"aria-l\
abel":De(e,"Find"),class:"cm-textfield",name:"search",form:"","main-field":"true",onchange:this.commit,onkeyup:this.
commit}),this.replaceField=H("input",{value:t.replace,placeholder:De(e,"Replace"),"aria-label":De(e,"Replace"),
class:"cm-textfield",name:"replace",form:"",onchange:this.commit,onkeyup:this.commit}),this.caseField=H("input",
{type:"checkbox",name:"case",form:"",checked:t.caseSensitive,onchange:this.commit}),this.reField=H("input",{type:"\
checkbox",name:"re",form:"",checked:t.regexp,onchange:this.commit}),this.wordField=H("input",{type:"checkbox",
name:"word",form:"",checked:t.wholeWord,onchange:this.commit});function i(s,r,o){return H("button",{class:"cm-\
button",name:s,onclick:r,type:"button"},o)}this.dom=H("div",{onkeydown:s=>this.keydown(s),class:"cm-search"},[
this.searchField,i("next",()=>Js(e),[De(e,"next")]),i("prev",()=>Zs(e),[De(e,"previous")]),i("select",()=>z0(e),
[De(e,"all")]),H("label",null,[this.caseField,De(e,"match case")]),H("label",null,[this.reField,De(e,"regexp")]),
H("label",null,[this.wordField,De(e,"by word")]),...e.state.readOnly?[]:[H("br"),this.replaceField,i("replace",
()=>ku(e),[De(e,"replace")]),i("replaceAll",()=>$0(e),[De(e,"replace all")])],H("button",{name:"close",onclick:()=>Du(
e),"aria-label":De(e,"close"),type:"button"},["\xD7"])])}commit(){let e=new _s({search:this.searchField.value,
caseSensitive:this.caseField.checked,regexp:this.reField.checked,wholeWord:this.wordField.checked,replace:this.
replaceField.value});e.eq(this.query)||(this.query=e,this.view.dispatch({effects:pn.of(e)}))}keydown(e){Xh(this.
view,e,"search-panel")?e.preventDefault():e.keyCode==13&&e.target==this.searchField?(e.preventDefault(),(e.shiftKey?
Zs:Js)(this.view)):e.keyCode==13&&e.target==this.replaceField&&(e.preventDefault(),ku(this.view))}update(e){for(let t of e.
transactions)for(let i of t.effects)i.is(pn)&&!i.value.eq(this.query)&&this.setQuery(i.value)}setQuery(e){this.
query=e,this.searchField.value=e.search,this.replaceField.value=e.replace,this.caseField.checked=e.caseSensitive,
this.reField.checked=e.regexp,this.wordField.checked=e.wholeWord}mount(){this.searchField.select()}get pos(){return 80}get top(){
return this.view.state.facet(Yt).top}};function De(n,e){return n.state.phrase(e)}var qs=30,$s=/[\s\.,:;?!]/;function ql(n,{
from:e,to:t}){let i=n.state.doc.lineAt(e),s=n.state.doc.lineAt(t).to,r=Math.max(i.from,e-qs),o=Math.min(s,t+qs),
l=n.state.sliceDoc(r,o);if(r!=i.from){for(let a=0;a<qs;a++)if(!$s.test(l[a+1])&&$s.test(l[a])){l=l.slice(a);break}}
if(o!=s){for(let a=l.length-1;a>l.length-qs;a--)if(!$s.test(l[a-1])&&$s.test(l[a])){l=l.slice(0,a);break}}return O.
announce.of(`${n.state.phrase("current match")}. ${l} ${n.state.phrase("on line")} ${i.number}.`)}var K0=O.baseTheme(
{".cm-panel.cm-search":{padding:"2px 6px 4px",position:"relative","& [name=close]":{position:"absolute",top:"0",
right:"4px",backgroundColor:"inherit",border:"none",font:"inherit",padding:0,margin:0},"& input, & button, & l\
abel":{margin:".2em .6em .2em 0"},"& input[type=checkbox]":{marginRight:".2em"},"& label":{fontSize:"80%",whiteSpace:"\
pre"}},"&light .cm-searchMatch":{backgroundColor:"#ffff0054"},"&dark .cm-searchMatch":{backgroundColor:"#00fff\
f8a"},"&light .cm-searchMatch-selected":{backgroundColor:"#ff6a0054"},"&dark .cm-searchMatch-selected":{backgroundColor:"\
#ff00ff8a"}}),Wl=[Mt,ot.low(V0),K0];var j0=ki.define([{tag:k.propertyName,color:"var(--link)"},{tag:k.string,color:"var(--good)"},{tag:[k.number,k.
bool,k.null],color:"var(--past)"}]),U0=O.theme({"&":{color:"var(--ink)",backgroundColor:"var(--paper)",border:"\
1px solid #7e8b88",borderRadius:"6px"},"&.cm-focused":{outline:"2px solid var(--focus)",outlineOffset:"1px"},"\
.cm-scroller":{font:'.9rem/1.5 ui-monospace, "Cascadia Code", Menlo, "DejaVu Sans Mono", monospace',maxHeight:"\
38rem",minHeight:"8rem",overflow:"auto"},".cm-content":{caretColor:"var(--ink)"},".cm-cursor":{borderLeftColor:"\
var(--ink)"},".cm-gutters":{backgroundColor:"var(--row)",color:"var(--quiet)",borderRight:"1px solid var(--lin\
e)"},".cm-activeLine, .cm-activeLineGutter":{backgroundColor:"color-mix(in srgb, var(--row) 60%, transparent)"},
"&.cm-focused .cm-selectionBackground, .cm-selectionBackground":{backgroundColor:"color-mix(in srgb, var(--lin\
k) 28%, transparent) !important"},".cm-matchingBracket":{backgroundColor:"var(--past-ground)",outline:"1px sol\
id var(--past)"},".cm-panels, .cm-tooltip":{backgroundColor:"var(--paper)",color:"var(--ink)",borderColor:"var\
(--line)"},".cm-panels input, .cm-panels button":{color:"var(--ink)",backgroundColor:"var(--paper)",backgroundImage:"\
none"},".cm-specialChar":{color:"var(--bad)"},".cm-lint-marker-error, .cm-lint-marker-warning, .cm-lint-marker\
-info":{content:"normal",color:"var(--bad)"},".cm-lint-marker:before":{content:'"\u2716"',lineHeight:"1"},".cm\
-lintRange-error, .cm-lintRange-warning, .cm-lintRange-info, .cm-lintRange-hint":{backgroundImage:"none",textDecoration:"\
underline wavy var(--bad)"}});function by({root:n,text:e,label:t,changed:i,save:s}){let r=[{key:"Mod-s",run:()=>(s(),
!0)},{key:"Mod-Enter",run:()=>(s(),!0)},...rf,..._f,...Pu,...vf,...qc,...cu],o=[mc(),gc(),ic(),yf(),jc(),ec(),
Nc(),Qc(),tf(),nc(),Cu(),Au({top:!0}),jt.of("  "),O.lineWrapping,Gc(j0),U0,nu(),yu(),fu(iu()),cs.of(r),O.contentAttributes.
of({"aria-label":t,spellcheck:"false"}),O.updateListener.of(a=>a.docChanged&&i(a.state.doc.toString()))],l=j.create(
{doc:e,extensions:o});return new O({state:l,parent:n,root:n})}export{by as edit};
