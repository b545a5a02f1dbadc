// Made by tools/oracles/gguf_grids.py from PyPI `gguf` 0.19; how to read it stands there and on
// `GGUFGrid`.
extension GGUFGrid {
  /// IQ2_XXS: 256 points of 8 coordinates.
  static let iq2XXSText = #"""
    ((*(,(.(0(2(4(:(<(@(B(D(F(L(R(V(X(^(`(f(r())+)1)5)C)a)m)(***<*`*)+++1+;+=+C+E+I+U+_+a+g+s+(,*,.,
    :,H,\,^,h,/-1-C-a-s-(.,...4.@.D.F.L.N.d.+/C/*040)1+111;1C1U1a1g1k1(2.2:2L2T2^2=3G3(4.4:4>4J4^475
    W5(666)7+717C7_7(8,8p8M9(:*:0:F:V:^:`:A;I;(<*<)=+=1=C=Q=(>D>X>g?.@:@j@FB)C+C1C7C;C=CCCICQCUC_CaC
    gC(D:DVD^DbD)E1EIEQE[E(F.F:F^FnF3G=G(H)I+I1ICIGI(JRJVJ`JGKgK(L.L2L8L:L^LdL+MEMsMhNgOiO0P)QOQ(R2R
    8RXRCS.T+U1UCU[U(VPV7WUW(X,X1Y3YaYE[(^*^0^D^`^+_7_C_2`)a+a1a5aCaUa(bHbjb/cCcUc*d+e2f+g1g=gCgqg6h
    ^hGi(j<jFjMk_m:n*pLpbp/q(r7sLv+w
    """#

  /// IQ2_XS: 512 points of 8 coordinates.
  static let iq2XSText = #"""
    ((*(,(.(0(2(4(6(8(:(<(>(@(D(F(H(J(L(N(P(R(V(X(^(`(b(d(h(j(n(p())+)-)/)1)3)5)7)9);)=)C)E)G)I)M)O)
    U)[)_)a)g)(***,*.*2*4*:*D*F*L*P*^*f*)+++-+/+1+3+5+7+;+=+C+E+G+I+M+O+Q+U+_+a+g+(,*,,,.,2,4,:,D,F,
    L,V,^,)-+-1-?-C-E-a-(.*.,...0.2.4.:.>.D.F.L.R.^.p.x.)/+/1/C/_/e/(0:0@0l0p0)1+1-1/111315171;1=1C1
    E1G1I1M1O1U1]1_1a1g1(2*2,2.22242:2D2F2L2^2j2l2)3+3-313C3U3(4*4,4.42444:4D4F4J4L4X4^4)5+515C5(646
    J6)7+71737C7O7c7(8,8Z8M9w9(:*:,:.:0:2:4:::D:F:L:^:p:);+;1;C;I;Y;(<<<^<v<)=+=1=A=C=(>D>N>n>)?9?u?
    (@.@0@:@P@d@r@[AgA.B:B`BdBfB)C+C-C/C1C3C5C7C;C=CCCECGCICKCMCOCUCYC_CaCgC(D*D,D.D2D4D:DDDFDLD^DbD
    rD)E+E1E3EAECE(F*F,F.F2F4F8F:FDFFFLF^FjF)G+G1G=GCGoG(H0HFHLH)I+I1ICIGIOIWI(J2JFJLJ\J+K(L*L,L.L2L
    4L:L@LDLFLLL^L)M+M1M5MCMEM(NFNxN)O+O1O;OCOUO_OqO(P.P^PdP;Q[QqQ(R4RDRLRnR9SCSESbT)U+U1UCUOUWUcUwU
    (V=WKWiW(X6X1YCYGYsY)[][>\-]O]W](^*^,^.^2^4^:^B^D^F^L^^^`^v^x^)_+_-_1_C_M_S_(`:`^```p`v`)a+a1a3a
    5aCaUaea(bFbtb7c]c(d.d>dTd^d`dvd-e<f^fdflfvf)g+g1gCgQgag(h<hXhQiei(j,jFjLjRjAkgkikDlMmumJn5oUo(p
    *p.p0p:pBpppMqSquq(r*r.rBr^rprCsksYumu0v:v<v@vpvvv+wawcw@xBxhxxx
    """#

  /// IQ2_S: 1024 points of 8 coordinates.
  static let iq2SText = #"""
    ((*(,(.(0(2(4(6(8(:(<(>(@(D(F(H(J(L(N(P(R(V(X(Z(\(^(`(b(d(h(j(p(t(x())+)-)/)1)3)5)7);)=)C)E)G)I)
    M)O)Q)S)U)Y)[)_)a)g)i)k)q)s)(***,*.*2*4*:*B*D*F*H*J*L*P*^*b*f*j*r*)+++-+/+1+3+5+7+;+=+?+A+C+E+G+
    I+K+M+O+Q+S+U+W+Y+_+a+c+e+g+k+m+q+s+(,*,,,.,0,2,4,6,8,:,>,@,D,F,H,J,L,N,P,R,V,X,^,`,b,d,h,j,p,)-
    +---/-1-5-C-G-I-M-O-U-_-a-g-(.*.,...2.4.6.8.:.>.B.D.F.H.J.L.N.P.R.V.X.^.b.j.x.)/+/1/3/5/7/;/C/G/
    I/M/O/U/_/g/(02040<0@0B0L0n0)1+1-1/111315171;1=1?1C1E1G1I1M1O1Q1S1U1W1Y1[1_1a1c1g1k1m1q1s1(2*2,2
    .20222426282:2<2>2@2D2F2H2J2L2N2P2R2V2X2^2`2b2d2h2j2)3+3/31353;3=3C3G3M3O3_3a3g3(4*4,4.424446484
    :4>4@4D4F4H4J4L4N4P4R4V4X4^4`4b4d4h4j4p4)5+5-5/515355575;5=5C5E5G5I5M5O5U5_5a5g5(6,6.62646:6D6F6
    L6^6x6)7+7-7/7175777;7C7E7G7I7M7O7U7_7a7(8*8,8.82848:8D8F8L8\8r8+919C9Q9(:*:,:.:2:4:6:8:::>:B:D:
    F:L:N:P:X:^:f:j:x:);+;1;3;5;;;C;E;G;M;O;U;_;a;g;(<0<<<@<B<F<L<d<f<v<)=+=-=/=1=5=7=;===C=E=G=I=M=
    O=U=_=a=g=(>,>.>2>4>:>D>F>L>Z>^>)?+?1?C?S?(@,@2@4@D@F@L@f@x@)A+A1AkA0B<BXBdBfB)C+C-C/C1C3C5C7C9C
    ;C=C?CCCECGCICKCMCOCQCSCUCWCYC_CaCgCkCmCqCsC(D*D,D.D2D4D6D8D:D<D>DDDFDHDJDLDNDPDRDVDXD^D`DbDdDhD
    jDpD)E+E1E3E5E7E=ECEGEIEMEOEUE_EaE(F*F,F.F0F2F4F6F8F:F<F>F@FDFFFHFJFLFNFPFRFVFXF^F`FbFdFhFjFpF)G
    +G-G/G1G3G5G7G;G=GCGEGGGIGMGOGUG]G_GaGgG(H*H,H.H2H4H:HDHFHLH^HtH)I+I/I1I3I5I7I;I=ICIEIGIIIMIOIUI
    aIgI(J*J,J.J2J4J:JDJFJLJ^JlJ)K+K1KCK(L*L,L.L2L4L6L8L:L<L>L@LDLFLHLJLLLNLPLRLVLXL^L`LbLdLhLjL)M+M
    -M/M1M3M5M7M;M=MCMEMGMIMMMOMUM_MaMgM(N,N.N2N4N:NDNFNLN\N^N)O+O-O/O1O3O5O7O;O=OCOEOGOIOMOOOUO_OaO
    gO(P*P,P.P2P4P:PDPFPLP^P)Q+Q1Q?QCQ(R*R,R.R2R4R:RDRFRLRTR^R)S+S1SCS(T8TbTvT)U+U-U1U3U5U7U;U=UCUGU
    IUMUOUUUaUgU(V*V,V.V2V4V:VDVFVLV^VnV+W1WCWQWqW(X,X.X2X4X:XDXFXLX^X)Y+Y1YCYKY[YiY(ZjZ)[+[1[Y[m[(\
    B\E]q](^*^,^.^2^4^8^:^>^D^F^L^N^P^R^V^^^b^h^j^)_+_/_1_3_5_7_;_=_C_E_G_I_M_O___a_g_w_(`,`0`2`4`D`
    F`L`)a+a-a/a1a3a5a7a;aCaEaGaIaMaOaUa_aaaga(b*b,b.b2b4b:bDbFbLb^bfb)c+c1cAcCc(d,d2d4dDdFdLdrd)e+e
    CeYe<fRfTf`frf)g+g/g1g3g5g7g=gCgEgGgIgMgOgUg_gaggg(h,h2h4hDhFhLhTh)i+i1iCiui(j*j,j.j2j4j:jDjFjLj
    ^jlj)k+k1kCkmkqk(lHlXl)m+m1m?mCmwm(nJnNngo(p,p0p4p<pBpDpFpLprpxpCqYq*r0r<r@rBr`rdrfrvr)s+s1sCses
    ss(t8tMu0v@vrvOwcw.x0x:x<x@xdxxx
    """#

  /// IQ3_XXS: 256 points of 4 coordinates.
  static let iq3XXSText = #"""
    ((*(,(1(3(7(8(:(A(J(c(e(i(k(p(r((),)/)1)8)C)O)W)Y)[)`)g)i)p)r)v)/*5*C*G*M*N*P*[*-+@+T+Y+d+p+r+v+
    +,>,N,0-G-[-_-a-v-3.C.E.J.L.S.U.Z.\.^.i.j.1/3/:/A/C/r/t/(0*01080Z0`0b0p0(151E1P1T1w1N2R2d2w223.4
    <4\4^4e4g4l4n4r4u4-5L5N5P5S5U5\5c5-61626:6<6C6I6J6L6Y6Z6g6*71757a7e758C8[8o8(9C97:9:D:[:w:-;/;6;
    8;M;Z;_;e;g;u;-<8<:<U<W<\<i<-===L=^=J>Y>l>r>x>3?N?m?.@C@k@/ACANA\A^AjAnAjB-C<C=CMCSCdC1DPDuD/EPE
    ^EsEoFrFtF1GcG)H@HHHNH^HuHCIQIqI(JQJnJ(K,KOKWKnKlLGMUM6NFNHNVNsNBO`O4PXP^PSQtQHR(SPS^S?TATCTDTVT
    fTAUKUuU?VDVZVgVuV9WZWjW8X:XLX?Y
    """#

  /// IQ3_S: 512 points of 4 coordinates.
  static let iq3SText = #"""
    (()(*(-(/(0(1(2(4(6(8(9(=(C(H(J(M(O(Q(S(X(Z(a(d(g(h(i(j(l(p(q(u(x(*).)0)4);)H)L)Q)W)X)\)^)_)b)e)
    h)l)o)s)(*+*-*/*1*>*A*I*O*S*V*X*_*a*d*j*n*p*,+.+2+5+@+D+F+I+O+U+X+^+m+w+(,4,6,:,?,E,I,K,Z,_,j,m,
    o,,-=-L-S-U-W-c-e-i-n-*...B.C.D.F.J.K.M.O.Q.R.T.[.^.`.n.p.s.+/1/2/4/7/9/=/B/I/L/R/Y/[/i/o/q/*0-0
    /00040:0@0C0M0P0Z0a0d0g0h0k0q0w0x0+101A1G1R1T1Y1[1h1j1q1u1w1*2?2F2I2O2V2X2g2=3A3D3Q3S3n3p3u3w3-4
    94=4N4T4\4]4_4a4c4d4f4h4j4m4o4s4t4v4,5.5053555B5C5F5H5K5M5S5V5Z5]5`5d5g5m5t5;6>6A6K6M6R6Y6[6e6i6
    s6v6)7+7.727;7=7B7D7K7Q7_7j7p7(8+8285898R8U8\8a8j8w8x829?9G9I9N9X9t9x9;:?:L:N:Y:^:x:.;0;2;4;7;>;
    @;B;G;I;L;N;X;^;f;h;j;q;v;x;4<D<N<R<T<^<d<n<p<+=D=K=O=T=V=Z=[=d=f=j=p=->5>;>@>D>K>\>b>f>s>)?+?6?
    ;?E?O?\?o?1@Q@S@`@b@m@?ACAIAOASAVAYA`AgAwA0B5B7B9B@BFBKBQBWB[BoBqBvB*C.C8C=CLCOCUCaCfChCmCoCvC)D
    LDND`DkDlD4E@EBELEmE5FFFZFrFwF1G<GBG[GaGeGkG(H,H/H2H>HDHIHKHMHRHYHbH1I7I@IJIOIUIbI(J-J.J=JJJOJ[J
    aJgJjJvJ/K;K_KkK-L/LfL5M7MEM+N-N/N;N=NRNbNrN(OEO[OmOsO-P2P8P@PLPQP`PDQRQaQoQrQ:RNRcR-SVSXS<T@TCT
    LTNTZT\ThTnT-U4U?UNUPUlUoUsU(V+V2VCV\VtVwV4WJWNWTWYWqWJXZX)Y@YgY
    """#

  /// IQ1_S: 2048 points of 8 coordinates.
  static let iq1Text = #"""
    ((*(,(.(0(2(5(:(<(@(B(G(M(O(Q(Y(^(`(d(f(k(p(r(v(x(+),)2)4)6)8)9)>)D)H)J)N)P)T)V)X)Z)[)b)h)j)l)t)
    (***.*0*5*:*<*@*B*G*M*S*X*\*^*`*d*f*h*k*n*p*r*v*x*2+4+6+>+D+J+P+T+X+Y+h+n+t+),+,,,-,5,7,9,A,C,G,
    K,L,M,O,P,Q,S,U,W,Y,[,],_,h,k,m,o,q,s,t,u,w,4-8-D-F-L-N-P-R-U-V-Z-\-b-h-j-n-(.*...0.5.:.<.@.B.G.
    M.Q.Y.^.`.d.f.k.p.r.v.x.,/2/4/8/=/>/D/L/M/P/V/X/\/h/j/l/n/t/(0*0.00050:0<0@0B0G0M0S0V0Y0^0`0b0d0
    f0k0p0r0v0x011214181=1>1D1F1L1P1R1V1X1Y1\1h1j1l1q1t1)2+2-2/212325272;2=2A2G2K2L2M2N2O2P2Q2S2U2Y2
    a2i2k2q2s2234363>3C3H3J3N3P3R3T3X3Z3b3h3j3l3t3)4-4/444547484;4?4D4G4H4I4K4M4O4P4Q4S4W4Y4[4a4e4g4
    j4k4m4n4o4q4s4t4w4*5,5052545556585:5<5>5@5B5D5F5G5H5M5N5O5P5Q5S5T5V5X5Y5Z5\5^5`5a5b5d5f5g5h5j5k5
    l5n5o5p5r5t5)6+6,6-656667696;6?6C6E6F6G6I6K6M6P6Q6R6S6V6X6Y6[6\6]6c6f6i6k6s6w62767>7D7F7H7J7L7P7
    R7T7U7V7X7Z7\7b7h7j7t718385898;8>8E8F8G8I8M8O8P8Q8S8T8U8Y8]8e8h8i8k8m8q8u8w8/969=9?9F9H9J9L9N9P9
    R9V9Z9\9b9h9l9o9(:*:.:0:5:::<:>:@:B:G:M:S:V:Y:^:`:d:f:k:p:r:t:v:x:,;2;4;8;>;E;F;J;P;R;T;V;X;Y;Z;
    b;g;l;n;t;)<.<0<2<5<:<<<@<B<G<M<Q<S<Y<_<d<f<h<k<p<r<v<x<,=4=6=8=>=F=G=H=J=N=P=R=T=Z=b=h=j=n=q=t=
    />5>;>A>C>G>I>M>O>P>S>W>Y>[>e>g>j>k>m>o>q>s>u>w>,?1?3?8?>?D?J?P?U?V?\?a?c?g?o?(@*@.@0@5@:@<@@@B@
    G@M@O@Y@^@`@d@f@p@r@v@x@/A2A4A8A>AHAJANAPAVAXAZA\AbAgAlAnAsAtA(B*B.B0B:B<B@BBBGBMBQBSBYB^B`BdBfB
    kBpBrBvBxB,C2C6C>CJCNCPCRCTCVCXCZCjCnCqCuC(D)D+D-D/D3D5D6D7D9D;D?DADGDIDKDMDODPDQDSDTDYD[D]D_DaD
    cDgDiDkDpDqDrD,E2E4E6E>EDENEPETEXE\EeEjEtE)F5F8FAFGFIFKFMFOFPFQFVFWFYF[F]F_FcFeFgFiFkFpFqFwF)G*G
    ,G0G2G4G5G6G8G:G>GBGDGFGGGHGJGLGMGOGPGQGRGSGVGXGYGZG\G`GaGbGdGhGjGkGlGnGoGtGvGxG)H,H/H4H5H7H9H;H
    =HAHCHEHGHIHLHMHNHPHQHSHWHYH[H_HbHfHjHkHqHsHuH,I2I5I9I>IEIJILIPIRIVIXIZI\IbIhIjIlInItI)J,J-J0J1J
    4J5J7J;J=J?JCJGJKJMJNJOJPJQJSJUJWJYJZJ]JcJeJiJkJlJmJqJsJuJwJ6KFKHKJKPKRKTKXK\KjKtK)L+L,L-L/L3L5L
    9L;L=LALCLGLILMLOLPLQLSLYL[LcLeLkLmLpLqLuLwL,M.M/M0M2M4M5M6M7M8M:M>M?M@MBMDMFMGMHMJMLMMMNMOMPMQM
    RMSMTMVMXMYMZM\M`MbMhMjMkMlMnMpMtMxM)N-N3N5N9N;N=NENGNKNMNONPNQNSNWNYNbNgNiNkNnNoNsN+O,O2O4O5O6O
    7O8O;O>O@OBODOFOGOHOJOKOLOMOOOPOQOROSOTOVOWOXOYOZO\O^OdOfOhOjOkOlOnOqOsOtOxO)P*P+P,P-P/P1P2P3P4P
    5P6P8P9P;P=P>P?PAPCPDPEPFPGPHPIPJPLPMPNPOPPPQPRPSPTPUPVPXPYPZP[P\P]P_PaPbPePfPgPhPjPkPlPmPnPqPsP
    tPuPwP(Q)Q*Q+Q-Q.Q/Q2Q4Q5Q7Q8Q:Q;Q<Q=Q>Q?Q@QAQDQGQHQIQJQKQLQMQNQOQPQQQRQSQTQVQXQYQ\Q`QbQcQdQeQfQ
    hQkQoQrQtQuQvQwQ+R,R-R/R1R5R7R;RBRGRIRKRMRORPRQRRRSRURWRXRYR`ReRgRiRkRmRqRwR)S*S,S0S2S4S5S6S8S>S
    DSFSGSHSJSLSMSNSOSPSQSRSSSTSVSXSYSZS\S_SbSeShSjSkSlSmSnStS+T.T5T9T:T>T?TATGTITJTMTPTQTRTSTWTYT[T
    ]T_TfTiTkTlTmToTqT,U4U6U8U>UFULUPUQURUTUVUXUZU\U_UlUtU)V+V-V/V3V5V;V<V?VAVGVJVMVPVQVSVYVZV]VaVfV
    iVkVqVuVwV2W6W8WCWDWHWPWQWRWUWbWhWlWtW2X3X5X6X9X;X?XAXCXEXGXIXKXMXOXPXQXSXTXUXWXYXaXbXeXgXiXjXkX
    lXmXoXqXsXwX,Y.Y0Y2Y5Y6Y8YFYGYHYJYLYMYOYPYQYSYVYXYYYZY\YcYeYfYhYkYlYnYoYrYtYuYvY*Z/Z5Z:Z?Z@ZAZCZ
    GZIZKZMZOZPZQZRZTZUZYZ[Z^Z`ZbZfZjZlZmZnZpZsZuZxZ6[8[>[D[N[P[T[V[\[b[h[m[u[)\+\1\5\;\=\?\A\C\D\G\
    H\I\M\O\P\Q\S\U\Y\]\`\a\f\k\q\s\t\w\2]6]7]D]F]J]L]P]R]T]X]Y]\]c]j]m]o]u](^*^.^0^:^<^@^B^G^L^M^O^
    Q^S^Y^^^`^d^f^k^p^r^v^x^,_2_4_6_8_>_D_F_J_L_N_P_Q_R_S_X_Z_\_b_e_j_l_n_t_(`*`.`0`5`:`<`@`B`M`O`S`
    Y`^```d`f`k`p`r`v`x`4a8aDaFaMaPaTaVaXa\ajana)b/b3b5b9b?bAbCbDbGbIbMbObPbQbSbTbYbZb[b]b_babcbebgb
    ibkbmbub2c6c8c>cDcFcJcKcLcPcScTcVcZc]cbchcocsc(d*d.d0d5d:d<d@dBdDdGdMdOdSdYd\d^d`dddfdkdpdrdvdxd
    ,e-e2e4e6e>eDeFeHeJeLeNePeTeVeXebelenete(f*f.f0f5f:f<f@fBfGfMfOfQf^f`fdfffkfpfrfvfxf,g2g6g7g8g>g
    DgHgJgPgRgTg\g]gbghgjglgngtg)h+h-h/h1h5h7h9h;h=h?hAhChGhLhMhOhPhQhShWhYhahchihkhmhqhshuhwh,i2i4i
    8i>iFiHiJiLiNiPiRiZi\ibijiliwi)j+j-j1j5j7j?jCjKjMjOjPjQjRjSjUjVjWjYjajcjijjjkjmjqjwj(k,k.k0k1k2k
    4k5k6k8k;k>kAkBkDkFkGkHkJkLkMkNkOkPkQkRkSkTkVkXkYkZk\k_kbkdkhkikjkkklknkokpkrktkvkxk)l+l1l5l8l:l
    ?lAlGlIlJlMlNlPlQlSlYl[l`lalelfliljlklslulwl,m6m8m>mDmHmLmNmPmQmTmXmYmbmhmlmnmtm+n-n/n1n3n5n7n9n
    :n;n=n?nCnEnGnInKnMnOnPnQnSnWnYnZn]n_nangninknonqnun,o5o>oFoHoJoLoPoRoVobohojokolo(p*p.p0p5p:p<p
    @pBpGpMpOpQpSp^p`pdpfpkppprpvpxp,q/q2q4q6q8q9qHqJqMqPqRqTqVqXqbqgqiqlqnq*r.r0r1r8r<r@rBrGrMrQrSr
    Yr^r`rdrfrkrprrrvrxr8s>sDsFsLsOsPsRsTsVsYsZs[s\sbs-t/t1t3t5t7t?tAtEtGtMtOtPtQtStYt]t_tatbtctetit
    ktmt,u2u6u9u;u>uFuHuKuNuPuQuRuUuWucugukulunuqusuuu(v*v.v0v:v<v@vBvMvOvQvSv^v`vdvfvkvpvrvvvxv,w4w
    8w;w>wDwLwPwTwVwZw\wgwlw(x*x.x0x:x<x@xBxMxOxQx^x`xdxfxkxpxrxvxxx
    """#
}
