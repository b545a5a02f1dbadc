import KernelContract

/// Every kernel there is, one list per function type; the order of a list is the preference.
///
/// Selection, the self-test and the tests read these lists, and `afm-bench kernels --list` prints
/// them. The lists are in extensions beside this file.
package enum KernelRegistry {}
